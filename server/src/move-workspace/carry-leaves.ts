import { runQuery } from '../db/moved-rows.ts'
import type { Move } from '../domain/moves/move.ts'
import {
  insertCarriedLeaves,
  insertCarriedLog,
  renewCarriedLogs,
} from '../domain/transparency-log/carried-leaves-store.ts'
import { proveInclusion, rememberSubtrees } from '../domain/transparency-log/merkle-tree.ts'
import { readTiles, tilesOfProofs } from '../domain/transparency-log/tile.ts'
import { findLogHead, findTiles, pageOwnLeaves } from '../domain/transparency-log/transparency-log-store.ts'
import { MoveRefused, type Cells } from './cells.ts'

/** At most this many leaves, of about a kilobyte with their proofs, are in memory at once. */
const LEAVES_PER_PAGE = 1_000

/**
 * Copies the leaves of a workspace, and proves that the log of the cell which it leaves contains them, so that its
 * payments can still be proved in the other cell. Must run in the transaction that takes the rows out, before it does.
 *
 * Throws `MoveRefused` if the log has not grown since public keys are stored.
 */
export async function carryLeaves(from: Cells['from'], { id: moveId, workspaceId }: Move): Promise<void> {
  const { size, checkpoint, verifierKey } = await runQuery(from, findLogHead())
  if (checkpoint === null) return
  if (verifierKey === null) {
    throw new MoveRefused('The transparency log has not grown since the upgrade. Make a payment here first.')
  }
  await runQuery(from, insertCarriedLog({ workspaceId, moveId, checkpoint, verifierKey }))
  await runQuery(from, renewCarriedLogs({ workspaceId, checkpoint, verifierKey }))
  let after = { subject: '', type: '' }
  for (;;) {
    const leaves = await runQuery(from, pageOwnLeaves(workspaceId, after, LEAVES_PER_PAGE))
    const last = leaves.at(-1)
    if (last === undefined) return
    const tiles = tilesOfProofs(
      leaves.map(({ position }) => position),
      size,
    )
    const read = rememberSubtrees(readTiles(await runQuery(from, findTiles(tiles))))
    const carried = leaves.map((leaf) => ({
      ...leaf,
      proof: Buffer.concat(proveInclusion(read, leaf.position, size)),
    }))
    await runQuery(from, insertCarriedLeaves({ workspaceId, moveId, checkpoint }, carried))
    after = last
  }
}
