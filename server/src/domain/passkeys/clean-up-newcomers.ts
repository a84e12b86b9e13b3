import type { Context } from '../context.ts'
import { deleteUsers, lockNewcomers } from './passkeys-store.ts'

/** Anybody may sign up. A user who does not join a workspace within this time is deleted. */
export const NEWCOMER_RETENTION_MS = 30 * 24 * 60 * 60 * 1_000
/**
 * Each user has at most 50 sessions, 10 recovery codes and 20 passkeys, so one step stays far below the time limit of a
 * database statement.
 */
export const NEWCOMERS_PER_STEP = 500

/**
 * Deletes users who signed up at least 30 days ago and have never belonged to a workspace, with their sessions,
 * ceremonies, recovery codes and passkeys. Deletes at most `NEWCOMERS_PER_STEP` users and returns how many.
 *
 * No other rows refer to these users: the audit log has no entries about them, and invitations, keys, grants and
 * connections exist only in workspaces.
 */
export async function cleanUpNewcomers(ctx: Pick<Context, 'db' | 'clock'>): Promise<number> {
  const signedUpBefore = new Date(ctx.clock.now().getTime() - NEWCOMER_RETENTION_MS)
  return await ctx.db.transaction(async (transaction) => {
    const ids = await transaction.run(lockNewcomers(signedUpBefore, NEWCOMERS_PER_STEP))
    if (ids.length === 0) return 0
    await transaction.commit(deleteUsers(ids))
    return ids.length
  })
}
