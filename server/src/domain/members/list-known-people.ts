import type { Context } from '../context.ts'
import type { KnownPerson } from './member.ts'
import { listKnownPersonRows } from './members-store.ts'

/**
 * The names of people whom a workspace has known, by their ids, and whether they are its members now. The caller vouches
 * that the ids stand in the workspace's own log: a name is told for each that is somebody's.
 */
export async function listKnownPeople(
  ctx: Pick<Context, 'db'>,
  { accountId, userIds }: { accountId: string; userIds: readonly string[] },
): Promise<KnownPerson[]> {
  return userIds.length === 0 ? [] : await ctx.db.runSlow(listKnownPersonRows(accountId, userIds))
}
