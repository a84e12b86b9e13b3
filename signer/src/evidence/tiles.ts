import type { Bytes } from '../bytes.ts'
import { HASH_BYTES, hashNode } from './merkle.ts'

/** How many hashes a full tile has. */
const TILE_WIDTH = 256
/** The height of the tree of the hashes of one tile. */
const TILE_HEIGHT = 8

/** A tile of a tree (C2SP tlog-tiles), or the first `width` hashes of it. */
export interface TilePlace {
  readonly level: number
  readonly number: number
  readonly width: number
}

/** Returns the hashes of a tile. Whoever supplies them is not trusted: a wrong hash makes a proof that does not verify. */
export type ReadTile = (place: TilePlace) => Promise<Bytes>

/** Returns the path of a tile below the address of the tiles: `<level>/<number>`, and `.p/<width>` if it is not full. */
export function formatTilePath({ level, number, width }: TilePlace): string {
  const digits = String(number)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').replaceAll(/(\d{3})(?=\d)/g, 'x$1/')
  return `${level}/${groups}${width === TILE_WIDTH ? '' : `.p/${width}`}`
}

/**
 * Returns the hashes that prove that the tree of `size` leaves contains the leaf at `position` (RFC 6962, section 2.1.1).
 */
export async function proveInclusion(read: ReadTile, position: number, size: number): Promise<Bytes[]> {
  const path: Bytes[] = []
  let [start, end] = [0, size]
  while (end - start > 1) {
    const middle = start + sizeOfLeft(end - start)
    const isLeft = position < middle
    path.push(await (isLeft ? hashRange(read, middle, end, size) : hashRange(read, start, middle, size)))
    ;[start, end] = isLeft ? [start, middle] : [middle, end]
  }
  return path.toReversed()
}

/**
 * Returns the hashes that prove that the tree of the first `oldSize` leaves, at least one, is the beginning of the tree
 * of `size` leaves (RFC 6962, section 2.1.2).
 */
export async function proveConsistency(read: ReadTile, oldSize: number, size: number): Promise<Bytes[]> {
  const path: Bytes[] = []
  let [start, end] = [0, size]
  while (end !== oldSize) {
    const middle = start + sizeOfLeft(end - start)
    const isLeft = oldSize <= middle
    path.push(await (isLeft ? hashRange(read, middle, end, size) : hashRange(read, start, middle, size)))
    ;[start, end] = isLeft ? [start, middle] : [middle, end]
  }
  // If the old tree has more than this subtree, the verifier needs both parts to compute its root.
  if (start > 0) path.push(await hashRange(read, start, end, size))
  return path.toReversed()
}

/** Returns the hash of the leaves from `start` to before `end`, which are a subtree of the tree of `size` leaves. */
async function hashRange(read: ReadTile, start: number, end: number, size: number): Promise<Bytes> {
  const left = sizeOfLeft(end - start)
  if (end - start === 1 || left * 2 === end - start)
    return await hashComplete(read, start, Math.log2(end - start), size)
  return await hashNode(
    await hashRange(read, start, start + left, size),
    await hashRange(read, start + left, end, size),
  )
}

/** Returns the hash of the complete subtree of `2 ** height` leaves that begins at `start`, from one tile. */
async function hashComplete(read: ReadTile, start: number, height: number, size: number): Promise<Bytes> {
  const level = Math.floor(height / TILE_HEIGHT)
  const count = 2 ** (height % TILE_HEIGHT)
  const span = TILE_WIDTH ** level
  const first = start / span
  const number = Math.floor(first / TILE_WIDTH)
  const width = Math.min(TILE_WIDTH, Math.floor(size / span) - number * TILE_WIDTH)
  const hashes = await read({ level, number, width })
  const offset = first % TILE_WIDTH
  let row = Array.from({ length: count }, (_, index) => {
    return hashes.slice((offset + index) * HASH_BYTES, (offset + index + 1) * HASH_BYTES)
  })
  while (row.length > 1) {
    const pairs = Array.from({ length: row.length / 2 }, (_, index) => row.slice(2 * index, 2 * index + 2))
    row = await Promise.all(pairs.map(([one, other]) => hashNode(one ?? hashes, other ?? hashes)))
  }
  return row[0] ?? hashes
}

/** Returns how many leaves the left part of a subtree has: the largest power of two that is smaller than `size`. */
function sizeOfLeft(size: number): number {
  let left = 1
  while (left * 2 < size) left *= 2
  return left
}
