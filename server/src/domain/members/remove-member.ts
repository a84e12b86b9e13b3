import type { Context } from '../context.ts'
import { changeMembership, type MembershipChange } from './change-membership.ts'

/**
 * Removes a member. `membership` is that of the user who removes them. Every member may leave, except the last owner.
 * Owners may remove every member, and admins may remove admins and viewers.
 *
 * Errors: 403 `role_insufficient`, and `verification_required` if an owner or admin is removed without a recent proof
 * of the user's presence (D59); 404 `member_not_found`; 409 `last_owner` (exact even under concurrent changes).
 */
export async function removeMember(
  ctx: Pick<Context, 'db' | 'clock'>,
  removal: Omit<MembershipChange, 'role'>,
): Promise<void> {
  await changeMembership(ctx, { ...removal, role: null })
}
