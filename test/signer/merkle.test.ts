import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  hashLeaf as hashLeafOfServer,
  proveInclusion,
  rootOf,
} from '../../server/src/domain/transparency-log/merkle-tree.ts'
import { HASH_BYTES, hashLeaf, verifyConsistency, verifyInclusion } from '../../signer/src/evidence/merkle.ts'
import { proveConsistency } from '../../signer/src/evidence/tiles.ts'

/** Enough for proofs of every shape. */
const SIZE_MAX = 40
const LEAVES = Array.from({ length: SIZE_MAX }, (_, index) => hashLeafOfServer(Buffer.from(`leaf ${index}`)))
const readLeaf = (start: number, size: number) => (size === 1 ? (LEAVES[start] ?? null) : null)
/** All leaves are in the first tile. */
const readTile = ({ width }: { width: number }) =>
  Promise.resolve(Uint8Array.from(Buffer.concat(LEAVES).subarray(0, width * HASH_BYTES)))
const ROOTS = Array.from({ length: SIZE_MAX + 1 }, (_, size) => rootOf(readLeaf, size))
const rootAt = (size: number) => ROOTS[size] as Buffer
const leafAt = (position: number) => LEAVES[position] as Buffer

describe('a proof of the Merkle tree, as a verifier sees it', () => {
  test('the hash of a leaf is that of the service, and that of the known vector', async () => {
    assert.deepEqual(Buffer.from(await hashLeaf(Buffer.from('leaf 0'))), leafAt(0))
    const known = '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'
    assert.equal(Buffer.from(await hashLeaf(new Uint8Array())).toString('hex'), known)
  })

  test('shows that a leaf is in a tree, and nothing else', async () => {
    for (let size = 1; size <= SIZE_MAX; size += 1) {
      for (let position = 0; position < size; position += 1) {
        const proof = proveInclusion(readLeaf, position, size)
        const verify = (leaf: Buffer, at: number, of: number, by: readonly Buffer[], root: Buffer) =>
          verifyInclusion(leaf, at, of, by, root)
        assert.ok(await verify(leafAt(position), position, size, proof, rootAt(size)))
        const others = [
          verify(leafAt((position + 1) % SIZE_MAX), position, size, proof, rootAt(size)),
          verify(leafAt(position), position, size, proof, rootAt(size - 1)),
          verify(leafAt(position), size, size, proof, rootAt(size)),
          verify(leafAt(position), position - 0.5, size, proof, rootAt(size)),
          verify(leafAt(position), position, size, [...proof, leafAt(0)], rootAt(size)),
          ...(proof.length === 0 ? [] : [verify(leafAt(position), position, size, proof.slice(1), rootAt(size))]),
          ...(size === 1 ? [] : [verify(leafAt(position), (position + 1) % size, size, proof, rootAt(size))]),
          ...proof.map((_, index) => verify(leafAt(position), position, size, flip(proof, index), rootAt(size))),
        ]
        assert.deepEqual(new Set(await Promise.all(others)), new Set([false]), `${position} of ${size}`)
      }
    }
  })

  test('shows that a tree is the beginning of another one, and nothing else', async () => {
    for (let size = 1; size <= SIZE_MAX; size += 1) {
      for (let oldSize = 1; oldSize <= size; oldSize += 1) {
        const proof = (await proveConsistency(readTile, oldSize, size)).map((hash) => Buffer.from(hash))
        const old = { oldSize, oldRoot: rootAt(oldSize) }
        const grown = { size, root: rootAt(size) }
        assert.ok(await verifyConsistency(old, grown, proof), `${oldSize} of ${size}`)
        const others = [
          verifyConsistency({ ...old, oldRoot: rootAt(oldSize - 1) }, grown, proof),
          verifyConsistency(old, { ...grown, root: rootAt(size - 1) }, proof),
          verifyConsistency({ ...old, oldSize: size + 1 }, grown, proof),
          verifyConsistency({ ...old, oldSize: 0 }, grown, proof),
          verifyConsistency(old, grown, [...proof, leafAt(0)]),
          ...(proof.length === 0 ? [] : [verifyConsistency(old, grown, proof.slice(0, -1))]),
          ...proof.map((_, index) => verifyConsistency(old, grown, flip(proof, index))),
        ]
        assert.deepEqual(new Set(await Promise.all(others)), new Set([false]), `${oldSize} of ${size}`)
      }
    }
  })

  test('with hashes of another length is refused', async () => {
    const short = [leafAt(1).subarray(1)]
    assert.equal(await verifyInclusion(leafAt(0), 0, 2, short, rootAt(2)), false)
    assert.equal(
      await verifyConsistency({ oldSize: 1, oldRoot: rootAt(1) }, { size: 2, root: rootAt(2) }, short),
      false,
    )
  })
})

/** Changes one bit of one hash. */
function flip(proof: readonly Buffer[], index: number): Buffer[] {
  return proof.map((hash, at) => (at === index ? Buffer.from([(hash[0] ?? 0) ^ 1, ...hash.subarray(1)]) : hash))
}
