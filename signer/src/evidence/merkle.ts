import type { Bytes } from '../bytes.ts'
import { sha256 } from '../verify-assertion.ts'

/** The length of a SHA-256 hash. */
export const HASH_BYTES = 32
const LEAF_PREFIX = 0x00
const NODE_PREFIX = 0x01

/** Returns the hash of a leaf (RFC 6962, section 2.1). */
export function hashLeaf(content: Uint8Array): Promise<Bytes> {
  return sha256(join(LEAF_PREFIX, content))
}

/** Returns the hash of the node with these two children (RFC 6962, section 2.1). */
export function hashNode(left: Uint8Array, right: Uint8Array): Promise<Bytes> {
  return sha256(join(NODE_PREFIX, left, right))
}

export function equalHashes(first: Uint8Array, second: Uint8Array): boolean {
  return first.length === second.length && first.every((byte, index) => byte === second[index])
}

/**
 * Returns whether the proof shows that the tree of `size` leaves with this root has this leaf at `position` (RFC 9162,
 * section 2.1.3.2).
 */
export async function verifyInclusion(
  leafHash: Uint8Array,
  position: number,
  size: number,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): Promise<boolean> {
  if (!isCount(position) || !isCount(size) || position >= size || !proof.every(isHash)) return false
  // The place of the node on the path, and of the last node at its height.
  let [node, last, hash] = [position, size - 1, leafHash]
  for (const sibling of proof) {
    if (last === 0) return false
    if (isOdd(node) || node === last) {
      hash = await hashNode(sibling, hash)
      while (!isOdd(node) && node !== 0) [node, last] = [half(node), half(last)]
    } else {
      hash = await hashNode(hash, sibling)
    }
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 && equalHashes(hash, root)
}

/**
 * Returns whether the proof shows that the tree of `oldSize` leaves with the root `oldRoot` is the beginning of the tree of
 * `size` leaves with the root `root` (RFC 9162, section 2.1.4.2). Both trees have at least one leaf.
 */
export async function verifyConsistency(
  { oldSize, oldRoot }: { oldSize: number; oldRoot: Uint8Array },
  { size, root }: { size: number; root: Uint8Array },
  proof: readonly Uint8Array[],
): Promise<boolean> {
  if (!isCount(oldSize) || !isCount(size) || oldSize === 0 || oldSize > size || !proof.every(isHash)) return false
  if (oldSize === size) return proof.length === 0 && equalHashes(oldRoot, root)
  let [node, last] = [oldSize - 1, size - 1]
  while (isOdd(node)) [node, last] = [half(node), half(last)]
  // If the old tree is complete, its root is the first hash of the path, and the proof leaves it out.
  const [first, ...path] = node === 0 ? [oldRoot, ...proof] : proof
  if (first === undefined) return false
  let [oldHash, hash] = [first, first]
  for (const sibling of path) {
    if (last === 0) return false
    if (isOdd(node) || node === last) {
      oldHash = await hashNode(sibling, oldHash)
      hash = await hashNode(sibling, hash)
      while (!isOdd(node) && node !== 0) [node, last] = [half(node), half(last)]
    } else {
      hash = await hashNode(hash, sibling)
    }
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 && equalHashes(oldHash, oldRoot) && equalHashes(hash, root)
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

function isHash(bytes: Uint8Array): boolean {
  return bytes.length === HASH_BYTES
}

/** Sizes can have more than 32 bits, so they are not shifted. */
function half(value: number): number {
  return Math.floor(value / 2)
}

function isOdd(value: number): boolean {
  return value % 2 === 1
}

function join(prefix: number, ...parts: readonly Uint8Array[]): Bytes {
  const bytes = new Uint8Array(1 + parts.reduce((sum, part) => sum + part.length, 0))
  bytes[0] = prefix
  let end = 1
  for (const part of parts) {
    bytes.set(part, end)
    end += part.length
  }
  return bytes
}
