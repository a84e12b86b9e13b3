import type { Query } from '../../db/query.ts'
import { hashLeaf, rootOf } from './merkle-tree.ts'
import { formatCheckpoint, NoteSigner } from './signed-note.ts'
import { growTiles, readTiles, type Tile } from './tile.ts'
import { insertLeaves, setLogHead, storeTiles, type LogHead, type NewLeaf } from './transparency-log-store.ts'

/**
 * Returns the statements that add leaves to the tree, and sign its checkpoint under the name `origin`. Their transaction
 * has locked the head. `lastTiles` are those of `lastTilesOf(head.size)`.
 */
export function addLeaves(
  leaves: readonly NewLeaf[],
  { head, lastTiles, origin, seed }: { head: LogHead; lastTiles: readonly Tile[]; origin: string; seed: Buffer },
): Query<boolean>[] {
  const placed = leaves.map((leaf, index) => ({ ...leaf, position: head.size + index }))
  const size = head.size + placed.length
  const grown = growTiles(
    lastTiles,
    head.size,
    placed.map(({ content }) => hashLeaf(Buffer.from(content))),
  )
  const root = rootOf(readTiles([...lastTiles, ...grown]), size)
  const signer = new NoteSigner(origin, seed)
  const checkpoint = signer.sign(formatCheckpoint({ origin, size, root }))
  return [
    insertLeaves(placed),
    storeTiles(grown),
    setLogHead({ origin, size, checkpoint, verifierKey: signer.verifierKey }),
  ]
}
