import type { Query } from '../../db/query.ts'
import { rootOf } from './merkle-tree.ts'
import type { Checkpoint } from './signed-note.ts'
import { lastTilesOf, readTiles, type Tile } from './tile.ts'
import { findTiles, hasRestoredLeaf, type LogHead } from './transparency-log-store.ts'

/** Runs a statement, alone or in a transaction. */
export type Read = <Result>(query: Query<Result>) => Promise<Result>

/**
 * How the log in the database stands to a checkpoint:
 *
 * - `continued`: its tree begins with the tree of the checkpoint.
 * - `ended`: it says that the log of the checkpoint ended.
 * - `lost`: it does not have all leaves of the checkpoint. The database was restored as it was earlier.
 * - `rewritten`: it has other leaves. They were changed, or added after a restore.
 */
export type Standing = 'continued' | 'ended' | 'lost' | 'rewritten'

export async function compareCheckpoint(
  checkpoint: Checkpoint,
  { head, read }: { head: LogHead; read: Read },
): Promise<Standing> {
  const { origin, size, root } = checkpoint
  if (origin !== head.origin) return (await read(hasRestoredLeaf(origin))) ? 'ended' : 'lost'
  if (size > head.size) return 'lost'
  const found = computeRoot(await read(findTiles(lastTilesOf(size))), size)
  return found?.equals(root) === true ? 'continued' : 'rewritten'
}

/** Returns the root of the first `size` leaves. Null if tiles are missing, which only happens if they were deleted by hand. */
function computeRoot(tiles: readonly Tile[], size: number): Buffer | null {
  try {
    return rootOf(readTiles(tiles), size)
  } catch {
    return null
  }
}
