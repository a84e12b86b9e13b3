import type { Context } from '../context.ts'
import { MEMBERS_LISTED_MAX, type Member } from './member.ts'
import { listMemberRows } from './members-store.ts'

/** A workspace's members, those who have been there longest first; the first 1000. */
export async function listMembers(ctx: Pick<Context, 'db'>, { accountId }: { accountId: string }): Promise<Member[]> {
  return await ctx.db.runSlow(listMemberRows(accountId, MEMBERS_LISTED_MAX))
}
