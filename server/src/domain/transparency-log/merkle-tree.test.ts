import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hashPair, rootFromInclusion } from '../../../../test/support/merkle-proofs.ts'
import { hashLeaf, proveInclusion, rememberSubtrees, rootOf } from './merkle-tree.ts'
import { growTiles, lastTilesOf, parseTilePath, readTiles, TILE_WIDTH, tilesOfProofs, type Tile } from './tile.ts'

/** From `testonly/constants.go` of transparency-dev/merkle: the leaves, and the roots of trees of 0 to 8 leaves. */
const KNOWN_LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
]
const KNOWN_ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]
/** Two full tiles of level 0, and one that is not full. */
const SIZE_MAX = 600
/** Each size up to one that needs a tile of the second level, and some larger ones. */
const PROVEN_SIZES = Array.from({ length: SIZE_MAX }, (_, index) => index + 1).filter(
  (size) => size < 270 || size % 11 === 0,
)
const LEAVES = Array.from({ length: SIZE_MAX }, (_, index) => hashLeaf(Buffer.from(`leaf ${index}`)))

describe('the Merkle tree', () => {
  test('its roots are those of the known vectors', () => {
    const leaves = KNOWN_LEAVES.map((leaf) => hashLeaf(Buffer.from(leaf, 'hex')))
    KNOWN_ROOTS.forEach((root, size) => {
      const tiles = growTiles([], 0, leaves.slice(0, size))
      assert.equal(rootOf(readTiles(tiles), size).toString('hex'), root)
    })
  })

  test('grown by one leaf at a time or by many, it has the same tiles, and the root of the definition', () => {
    const stored = new Tiles()
    for (let size = 0; size < SIZE_MAX; size += 1) {
      stored.grow(size, LEAVES.slice(size, size + 1))
      assert.deepEqual(rootOf(readTiles(stored.last(size + 1)), size + 1), hashByDefinition(0, size + 1))
    }
    for (const step of [7, 256, 257, SIZE_MAX]) {
      const other = new Tiles()
      for (let size = 0; size < SIZE_MAX; size += step) other.grow(size, LEAVES.slice(size, size + step))
      assert.deepEqual(other.all(), stored.all())
    }
    assert.deepEqual(
      stored.all().map(({ level, number, hashes }) => [level, number, hashes.length / 32]),
      [
        [0, 0, 256],
        [0, 1, 256],
        [0, 2, 88],
        [1, 0, 2],
      ],
    )
  })

  test('a tree of 65,537 leaves has a tile of the third level', () => {
    const size = TILE_WIDTH ** 2 + 1
    const leaves = Array.from({ length: size }, (_, index) => LEAVES[index % SIZE_MAX] as Buffer)
    const tiles = growTiles([], 0, leaves)
    const last = [
      { level: 0, number: TILE_WIDTH },
      { level: 2, number: 0 },
    ]
    assert.deepEqual(lastTilesOf(size), last)
    let row = leaves.slice(0, -1)
    while (row.length > 1) {
      row = row.flatMap((left, index) => (index % 2 === 0 ? [hashPair(left, row[index + 1] as Buffer)] : []))
    }
    const needed = tiles.filter(({ level, number }) =>
      last.some((tile) => tile.level === level && tile.number === number),
    )
    assert.deepEqual(rootOf(readTiles(needed), size), hashPair(row[0] as Buffer, leaves.at(-1) as Buffer))
  })

  test('a proof shows that a leaf is in a tree, and not at another position', () => {
    const read = readTiles(growTiles([], 0, LEAVES))
    for (const size of PROVEN_SIZES) {
      const root = hashByDefinition(0, size)
      for (const position of somePositions(size)) {
        const proof = proveInclusion(read, position, size)
        assert.deepEqual(rootFromInclusion(LEAVES[position] as Buffer, { position, size, proof }), root)
        const elsewhere = (position + 1) % size
        if (elsewhere === position) continue
        assert.notDeepEqual(rootFromInclusion(LEAVES[position] as Buffer, { position: elsewhere, size, proof }), root)
      }
    }
  })

  test('the proofs of some leaves are made from few tiles', () => {
    const size = TILE_WIDTH ** 2 + 300
    const tiles = growTiles(
      [],
      0,
      Array.from({ length: size }, (_, index) => LEAVES[index % SIZE_MAX] as Buffer),
    )
    const root = rootOf(readTiles(tiles), size)
    for (const positions of [[0], [size - 1], [5, 300, 65_000], [65_536, 65_800]]) {
      const places = tilesOfProofs(positions, size)
      assert.ok(places.length <= positions.length + 6)
      const needed = places.map(({ level, number }) => {
        return tiles.find((tile) => tile.level === level && tile.number === number) ?? assert.fail()
      })
      const read = rememberSubtrees(readTiles(needed))
      for (const position of positions) {
        const proof = proveInclusion(read, position, size)
        assert.deepEqual(proof, proveInclusion(readTiles(tiles), position, size))
        const leaf = LEAVES[position % SIZE_MAX] as Buffer
        assert.deepEqual(rootFromInclusion(leaf, { position, size, proof }), root)
      }
    }
  })

  test('the path of a tile names it in one way only', () => {
    assert.deepEqual(parseTilePath('0/x001/x234/067'), { level: 0, number: 1_234_067, width: 256 })
    assert.deepEqual(parseTilePath('2/000.p/17'), { level: 2, number: 0, width: 17 })
    const others = [
      '7/000',
      '00/000',
      '0/0',
      '0/x000/001',
      '0/001/x002',
      '0/000.p/0',
      '0/000.p/256',
      '0/000.p/017',
      '0/000/',
      '-1/000',
    ]
    for (const path of others) assert.equal(parseTilePath(path), null, path)
  })

  test('a missing tile, and one that is too short, are errors', () => {
    const tiles = growTiles([], 0, LEAVES.slice(0, 300))
    assert.throws(
      () => rootOf(readTiles(tiles.filter(({ level }) => level === 0)), 300),
      /no tile of level 1 contains the hash 0/,
    )
    assert.throws(() => rootOf(readTiles(tiles), 301), /no tile of level 0 contains the hash 300/)
    assert.throws(() => growTiles([], 300, LEAVES.slice(300)), /the tile 1 of level 0 is missing/)
  })
})

/** Tiles as a database keeps them. */
class Tiles {
  readonly #tiles = new Map<string, Tile>()

  grow(size: number, leaves: readonly Buffer[]): void {
    for (const tile of growTiles(this.last(size), size, leaves)) this.#tiles.set(`${tile.level}/${tile.number}`, tile)
  }

  last(size: number): Tile[] {
    return lastTilesOf(size).map(({ level, number }) => this.#tiles.get(`${level}/${number}`) as Tile)
  }

  all(): Tile[] {
    return [...this.#tiles.values()].toSorted((a, b) => a.level - b.level || a.number - b.number)
  }
}

/** The first and the last position, the middle, and one that differs from size to size. */
function somePositions(size: number): number[] {
  return [...new Set([0, size - 1, Math.floor(size / 2), (size * 7) % 101])].filter((position) => position < size)
}

const byDefinition = new Map<string, Buffer>()

/** Hashes a subtree as RFC 6962 defines it in section 2.1, without tiles. */
function hashByDefinition(start: number, end: number): Buffer {
  if (end - start === 1) return LEAVES[start] as Buffer
  const key = `${start}-${end}`
  const known = byDefinition.get(key)
  if (known !== undefined) return known
  let left = 1
  while (left * 2 < end - start) left *= 2
  const hash = hashPair(hashByDefinition(start, start + left), hashByDefinition(start + left, end))
  byDefinition.set(key, hash)
  return hash
}
