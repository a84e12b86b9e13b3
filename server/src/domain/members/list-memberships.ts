import type { Context } from '../context.ts'
import type { Membership } from './member.ts'
import { listMembershipRows } from './members-store.ts'

/** The workspaces that a person belongs to, by name. */
export async function listMemberships(ctx: Pick<Context, 'db'>, { userId }: { userId: string }): Promise<Membership[]> {
  return await ctx.db.runRelaxed(listMembershipRows(userId))
}
