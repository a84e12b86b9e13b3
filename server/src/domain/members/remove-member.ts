import type { Context } from '../context.ts'
import { changeMembership, type MembershipChange } from './change-membership.ts'

/**
 * Ends a membership, as `membership`'s person: one may always end one's own; an owner may end everybody's, an admin
 * those of admins and viewers. Errors: 403 `role_insufficient`, and `verification_required` for an owner or admin; 404
 * `member_not_found`; 409 `last_owner` (exact under races).
 */
export async function removeMember(
  ctx: Pick<Context, 'db' | 'clock'>,
  removal: Omit<MembershipChange, 'role'>,
): Promise<void> {
  await changeMembership(ctx, { ...removal, role: null })
}
