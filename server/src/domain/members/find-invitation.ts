import { problem } from '../../values/problem.ts'
import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { isOpen } from './invitation.ts'
import { findInvitationRow, type InvitationRow } from './members-store.ts'

/** What a secret invites to, and the name of who did; 404 `invitation_not_found` when nobody can join by it. */
export async function findInvitation(
  ctx: Pick<Context, 'db' | 'clock'>,
  { secret }: { secret: string },
): Promise<InvitationRow> {
  const known = isSecret(SECRET_PREFIXES.invitation, secret)
  const found = known ? await ctx.db.runRelaxed(findInvitationRow(hashSecret(secret))) : null
  if (found === null || !isOpen(found.invitation, ctx.clock.now())) throw problem('invitation_not_found')
  return found
}
