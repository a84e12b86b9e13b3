import type { Context } from '../context.ts'
import type { Invitation } from './invitation.ts'
import { listOpenInvitations } from './members-store.ts'

/** The invitations of a workspace by which somebody can still join, oldest first. */
export async function listInvitations(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId }: { accountId: string },
): Promise<Invitation[]> {
  return await ctx.db.runRelaxed(listOpenInvitations(accountId, ctx.clock.now()))
}
