import type { Context } from '../context.ts'
import type { Membership } from './member.ts'
import { moveMember } from './move-member.ts'

/**
 * Ends a membership, as `membership`'s person: one may always end one's own; an owner may end everybody's, an admin
 * those of admins and viewers. Errors: 403 `role_insufficient`; 404 `member_not_found`; 409 `last_owner` (exact under
 * races).
 */
export async function removeMember(
  ctx: Pick<Context, 'db' | 'clock'>,
  { membership, userId }: { membership: Membership; userId: string },
): Promise<void> {
  await moveMember(ctx, { membership, userId, role: null })
}
