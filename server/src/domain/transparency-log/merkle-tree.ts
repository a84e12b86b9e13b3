import { createHash } from 'node:crypto'

const LEAF_PREFIX = Buffer.from([0x00])
const NODE_PREFIX = Buffer.from([0x01])

/**
 * Returns the hash of the complete subtree that begins with the leaf at `start` and has `size` leaves, if it is stored.
 * `size` is a power of two and divides `start`. Returns null for a subtree whose hash must be computed from its halves.
 */
export type ReadSubtree = (start: number, size: number) => Buffer | null

/** Reads subtrees, and remembers the hashes that it computed, so that many proofs from one tree hash little twice. */
export function rememberSubtrees(read: ReadSubtree): ReadSubtree {
  const known = new Map<string, Buffer>()
  const find = (start: number, size: number): Buffer | null => {
    const place = `${start} ${size}`
    const hash = read(start, size) ?? known.get(place) ?? (size === 1 ? null : hashHalves(start, size / 2))
    if (hash !== null) known.set(place, hash)
    return hash
  }
  const hashHalves = (start: number, half: number): Buffer | null => {
    const [left, right] = [find(start, half), find(start + half, half)]
    return left === null || right === null ? null : hashNode(left, right)
  }
  return find
}

/** Returns the hash of a leaf (RFC 6962, section 2.1). */
export function hashLeaf(content: Uint8Array): Buffer {
  return createHash('sha256').update(LEAF_PREFIX).update(content).digest()
}

/** Returns the root of the tree of the first `size` leaves (RFC 6962, section 2.1). */
export function rootOf(read: ReadSubtree, size: number): Buffer {
  return size === 0 ? createHash('sha256').digest() : hashRange(read, 0, size)
}

/**
 * Returns the hashes that prove that the tree of the first `size` leaves contains the leaf at `position` (RFC 6962,
 * section 2.1.1).
 */
export function proveInclusion(read: ReadSubtree, position: number, size: number): Buffer[] {
  const path: Buffer[] = []
  let [start, end] = [0, size]
  while (end - start > 1) {
    const middle = start + sizeOfLeft(end - start)
    const isLeft = position < middle
    path.push(isLeft ? hashRange(read, middle, end) : hashRange(read, start, middle))
    ;[start, end] = isLeft ? [start, middle] : [middle, end]
  }
  return path.toReversed()
}

/** Returns the hash of the leaves from `start` to before `end`, which are a subtree of a tree. */
function hashRange(read: ReadSubtree, start: number, end: number): Buffer {
  const left = sizeOfLeft(end - start)
  const isComplete = left * 2 === end - start || end - start === 1
  const stored = isComplete ? read(start, end - start) : null
  return stored ?? hashNode(hashRange(read, start, start + left), hashRange(read, start + left, end))
}

/** Returns the hash of the node with these two children (RFC 6962, section 2.1). */
function hashNode(left: Uint8Array, right: Uint8Array): Buffer {
  return createHash('sha256').update(NODE_PREFIX).update(left).update(right).digest()
}

/** Returns how many leaves the left part of a subtree has: the largest power of two that is smaller than `size`. */
function sizeOfLeft(size: number): number {
  let left = 1
  while (left * 2 < size) left *= 2
  return left
}
