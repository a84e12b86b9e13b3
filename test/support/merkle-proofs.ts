import { createHash } from 'node:crypto'

/** Hashes two hashes to the one above them in a Merkle tree (RFC 6962, section 2.1). */
export function hashPair(left: Buffer, right: Buffer): Buffer {
  return createHash('sha256')
    .update(Buffer.concat([Buffer.from([1]), left, right]))
    .digest()
}

/** Computes the root as RFC 9162 says in section 2.1.3.2. */
export function rootFromInclusion(
  leaf: Buffer,
  { position, size, proof }: { position: number; size: number; proof: readonly Buffer[] },
): Buffer | null {
  let [node, last, hash] = [position, size - 1, leaf]
  for (const sibling of proof) {
    if (last === 0) return null
    if (node % 2 === 1 || node === last) {
      hash = hashPair(sibling, hash)
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)]
    } else {
      hash = hashPair(hash, sibling)
    }
    ;[node, last] = [Math.floor(node / 2), Math.floor(last / 2)]
  }
  return last === 0 ? hash : null
}
