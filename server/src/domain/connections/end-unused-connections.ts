import { closeWindows } from '../../limiter/limiter-store.ts'
import type { Context } from '../context.ts'
import { deleteUnusedConnections } from './connections-store.ts'
import { CLEAN_UP_ROWS_MAX, UNUSED_CONNECTION_RETENTION_MS } from './limits.ts'

/**
 * Deletes connections whose code expired a day ago without being exchanged, at most `CLEAN_UP_ROWS_MAX` of them, and
 * returns how many. Only the workspace's audit log, which records the consent, still mentions them.
 */
export async function endUnusedConnections({ db, clock }: Pick<Context, 'db' | 'clock'>): Promise<number> {
  const endedBefore = new Date(clock.now().getTime() - UNUSED_CONNECTION_RETENTION_MS)
  return await db.transaction(async (transaction) => {
    const subjects = await transaction.run(deleteUnusedConnections(endedBefore, CLEAN_UP_ROWS_MAX))
    if (subjects.length > 0) await transaction.commit([closeWindows(subjects)])
    return subjects.length
  })
}
