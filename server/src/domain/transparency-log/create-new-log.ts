import { randomBytes } from 'node:crypto'
import { OperatorError } from '../../lib/operator-error.ts'
import type { Context } from '../context.ts'
import { addLeaves } from './add-leaves.ts'
import type { Standing } from './compare-checkpoint.ts'
import { compareKept, keepCheckpoint } from './keep-checkpoint.ts'
import { SALT_BYTES } from './leaf.ts'
import { formatRestoredLeaf, originAfterRestore, RESTORED } from './restored-leaf.ts'
import { lastTilesOf } from './tile.ts'
import { findLogHead, findTiles, lockLogHead, type LogHead } from './transparency-log-store.ts'

/** A log that is not continued. */
interface EndedLog {
  readonly origin: string
  /** The last checkpoint that is known of it. */
  readonly lost: string
  /** How many leaves it surely has in common with the log in the database. */
  readonly size: number
}

/** A log that was begun. */
export interface NewLog {
  readonly origin: string
  /** How many leaves of the database it goes on from. */
  readonly size: number
  /** The origins of the logs that it says have ended. */
  readonly ended: readonly string[]
}

/** Returns how the log in the database stands to the kept checkpoint; `unknown` if there is none. Changes nothing. */
export async function findLogStanding(ctx: Pick<Context, 'db' | 'transparencyLog'>): Promise<Standing | 'unknown'> {
  await ctx.transparencyLog.kept?.load()
  const head = await ctx.db.read(findLogHead())
  const { standing } = await compareKept(ctx, { head, read: (query) => ctx.db.read(query) })
  return standing
}

/**
 * Begins a new log after the database was restored as it was earlier (D80). The new log goes on from the leaves that the
 * database has, and its first new leaf says which log ended. So the service never has two logs of the same name.
 *
 * Does nothing and returns null if the log in the database continues the kept checkpoint, or says already that the
 * checkpoint's log ended. So it can be repeated after a failure. With `isForced`, it begins a new log in any case. Throws
 * an `OperatorError` if the log was rewritten and `isForced` is false, or if the file contains something else.
 */
export async function createNewLog(
  ctx: Pick<Context, 'db' | 'clock' | 'transparencyLog'>,
  { isForced }: { isForced: boolean },
): Promise<NewLog | null> {
  const { kept, key, origin: base } = ctx.transparencyLog
  await kept?.load()
  const seed = await key.read()
  const begun = await ctx.db.transaction(async (transaction) => {
    const head = await transaction.run(lockLogHead())
    const { standing, checkpoint } = await compareKept(ctx, { head, read: (query) => transaction.run(query) })
    if (standing === 'rewritten' && !isForced) {
      throw new OperatorError(
        'the transparency log was rewritten: LOG_CHECKPOINT_FILE contradicts the database, although the database does ' +
          'not have fewer leaves (see "The transparency log" in "Backups")',
      )
    }
    const isLost = standing === 'lost' || standing === 'rewritten'
    const lost = isLost && checkpoint !== null ? { origin: checkpoint.origin, lost: kept?.newest ?? '' } : null
    const ended = [
      ...(lost === null ? [] : [{ ...lost, size: standing === 'lost' ? head.size : 0 }]),
      ...(lost === null && !isForced ? [] : listOwn(head).filter(({ origin }) => origin !== lost?.origin)),
    ]
    if (ended.length === 0) {
      await transaction.rollback()
      return null
    }
    const at = ctx.clock.now()
    const origin = originAfterRestore(base, at)
    const leaves = ended.map((log) => ({
      change: { ...RESTORED, subject: log.origin },
      content: formatRestoredLeaf({ at, ...log }, randomBytes(SALT_BYTES)),
    }))
    const lastTiles = await transaction.run(findTiles(lastTilesOf(head.size)))
    await transaction.commit(addLeaves(leaves, { head, lastTiles, origin, seed }))
    return { origin, size: head.size, ended: ended.map((log) => log.origin) }
  })
  // This also repairs the file if an earlier run was stopped before it stored the checkpoint.
  await keepCheckpoint(ctx)
  return begun
}

/** The log in the database ends too, because the new log has another name. */
function listOwn({ origin, size, checkpoint }: LogHead): EndedLog[] {
  return origin === null || checkpoint === null ? [] : [{ origin, lost: checkpoint, size }]
}
