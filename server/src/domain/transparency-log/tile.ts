import { rootOf, type ReadSubtree } from './merkle-tree.ts'

/** The length of a SHA-256 hash. */
export const HASH_BYTES = 32
/** How many hashes a full tile has. */
export const TILE_WIDTH = 256
/** Tiles of this many levels hold more leaves than a number can count (2 ** 53). */
const TILE_LEVELS = 7

/**
 * Consecutive hashes of one height of the tree (C2SP tlog-tiles). The tiles of level 0 contain the hashes of the leaves.
 * In a tile of a higher level, each hash is the root of a full tile of the level below.
 */
export interface Tile {
  readonly level: number
  /** The position of the tile in its level. */
  readonly number: number
  /** The hashes, one after the other. A tile with fewer than `TILE_WIDTH` is the last one of its level. */
  readonly hashes: Buffer
}

/** Returns the place of the last tile of each level that the tree of the first `size` leaves has and that is not full. */
export function lastTilesOf(size: number): Pick<Tile, 'level' | 'number'>[] {
  return Array.from({ length: TILE_LEVELS }, (_, level) => ({ level, number: placeIn(level + 1, size) })).filter(
    ({ level }) => placeIn(level, size) % TILE_WIDTH > 0,
  )
}

/** Returns the places of the tiles from which the inclusion of these leaves in the tree of `size` leaves is proved. */
export function tilesOfProofs(positions: readonly number[], size: number): Pick<Tile, 'level' | 'number'>[] {
  const above = Array.from({ length: TILE_LEVELS }, (_, level) => level).filter((level) => placeIn(level, size) > 0)
  const numbers = above.map((level) => new Set(positions.map((position) => placeIn(level + 1, position))))
  const needed = above.flatMap((level) => [...(numbers[level] ?? [])].map((number) => ({ level, number })))
  const atTheEnd = lastTilesOf(size).filter(({ level, number }) => numbers[level]?.has(number) !== true)
  return [...needed.filter(({ level, number }) => number * TILE_WIDTH < placeIn(level, size)), ...atTheEnd]
}

/**
 * Adds leaves to a tree of `size` leaves. `tiles` contains at least the tiles of `lastTilesOf(size)`. Returns the tiles
 * that have changed, and the new ones.
 */
export function growTiles(tiles: readonly Tile[], size: number, leafHashes: readonly Buffer[]): Tile[] {
  const changed: Tile[] = []
  let added = leafHashes
  for (let level = 0; added.length > 0; level += 1) {
    const roots: Buffer[] = []
    let place = placeIn(level, size)
    while (added.length > 0) {
      const number = Math.floor(place / TILE_WIDTH)
      const width = place % TILE_WIDTH
      const old = width === 0 ? [] : [firstHashes(findTile(tiles, level, number), width)]
      const fitting = added.slice(0, TILE_WIDTH - width)
      const tile = { level, number, hashes: Buffer.concat([...old, ...fitting]) }
      changed.push(tile)
      if (width + fitting.length === TILE_WIDTH) roots.push(rootOf(readWithin(tile), TILE_WIDTH))
      added = added.slice(fitting.length)
      place += fitting.length
    }
    added = roots
  }
  return changed
}

/**
 * Reads the hashes of subtrees from tiles. Of two tiles at the same place, the later one counts. Throws if the tile that
 * contains a hash is missing, or too short.
 */
export function readTiles(tiles: readonly Tile[]): ReadSubtree {
  const levels = LEVEL_SIZES.map((_, level) => {
    return new Map(tiles.filter((tile) => tile.level === level).map((tile) => [tile.number, tile.hashes]))
  })
  return (start, size) => {
    const level = LEVEL_SIZES.indexOf(size)
    if (level === -1) return null
    const place = start / size
    const offset = (place % TILE_WIDTH) * HASH_BYTES
    const hashes = levels[level]?.get(Math.floor(place / TILE_WIDTH))
    if (hashes === undefined || hashes.length < offset + HASH_BYTES) {
      throw new Error(`no tile of level ${level} contains the hash ${place}`)
    }
    return hashes.subarray(offset, offset + HASH_BYTES)
  }
}

/** The number of leaves under one hash of each level. */
const LEVEL_SIZES = Array.from({ length: TILE_LEVELS }, (_, level) => TILE_WIDTH ** level)

/** Returns how many hashes of a level a tree of `size` leaves has. */
function placeIn(level: number, size: number): number {
  return Math.floor(size / TILE_WIDTH ** level)
}

function findTile(tiles: readonly Tile[], level: number, number: number): Tile {
  const found = tiles.find((tile) => tile.level === level && tile.number === number)
  if (found === undefined) throw new Error(`the tile ${number} of level ${level} is missing`)
  return found
}

function firstHashes(tile: Tile, width: number): Buffer {
  const hashes = findHashes(tile, width)
  if (hashes === null) throw new Error(`the tile ${tile.number} of level ${tile.level} has fewer than ${width} hashes`)
  return hashes
}

/** Reads a tile as a tree of its own, whose leaves are the hashes of the tile. */
function readWithin({ hashes }: Tile): ReadSubtree {
  return (start, size) => (size === 1 ? hashes.subarray(start * HASH_BYTES, (start + 1) * HASH_BYTES) : null)
}

/** Returns the first `width` hashes of a tile, or null if it has fewer. */
export function findHashes({ hashes }: Tile, width: number): Buffer | null {
  return hashes.length < width * HASH_BYTES ? null : hashes.subarray(0, width * HASH_BYTES)
}

/** Matches `<level>/<number>`, and `.p/<width>` for a partial tile. The number is split into groups of three digits. */
const PATH_PATTERN = /^(\d)\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/

/** A tile that a path names. A partial tile contains only the first `width` hashes of the tile. */
export interface NamedTile extends Pick<Tile, 'level' | 'number'> {
  readonly width: number
}

/** Parses the path of a tile (C2SP tlog-tiles). Returns null if it names no tile that can exist. */
export function parseTilePath(path: string): NamedTile | null {
  const [, level, groups, partial] = PATH_PATTERN.exec(path) ?? []
  if (level === undefined || groups === undefined) return null
  const number = Number(groups.replaceAll(/[x/]/g, ''))
  const width = partial === undefined ? TILE_WIDTH : Number(partial)
  const isPossible = Number(level) < TILE_LEVELS && Number.isSafeInteger(number)
  const isShort = groups === formatNumber(number) && (partial === undefined || width < TILE_WIDTH)
  return isPossible && isShort ? { level: Number(level), number, width } : null
}

/** Splits a number into groups of three digits. All but the last one begin with an `x`. */
function formatNumber(number: number): string {
  const digits = String(number)
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, '0')
  return padded.replaceAll(/(\d{3})(?=\d)/g, 'x$1/')
}
