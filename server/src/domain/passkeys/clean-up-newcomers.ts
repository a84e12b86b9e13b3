import type { Context } from '../context.ts'
import { deleteUsers, lockNewcomers } from './passkeys-store.ts'

/** Anybody may sign up. Whoever has belonged to no workspace by then is deleted. */
export const NEWCOMER_KEPT_MS = 30 * 24 * 60 * 60 * 1_000
/** Each has at most 50 sessions, 10 recovery codes and a few passkeys, so a step stays far below its time. */
export const NEWCOMERS_PER_STEP = 500

/**
 * Deletes people who signed up 30 days ago and have never belonged to a workspace, with their sessions, ceremonies,
 * recovery codes and passkeys, so many of them at the most; returns how many. The audit log holds nothing of them. Nothing
 * else can name them either: invitations, keys, grants and connections belong to workspaces.
 */
export async function cleanUpNewcomers(ctx: Pick<Context, 'db' | 'clock'>): Promise<number> {
  const signedUpBefore = new Date(ctx.clock.now().getTime() - NEWCOMER_KEPT_MS)
  return await ctx.db.transaction(async (transaction) => {
    const ids = await transaction.run(lockNewcomers(signedUpBefore, NEWCOMERS_PER_STEP))
    if (ids.length === 0) return 0
    await transaction.commit(deleteUsers(ids))
    return ids.length
  })
}
