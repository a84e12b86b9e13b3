import type { Context } from '../context.ts'
import { changeMembership, type MembershipChange } from './change-membership.ts'

/**
 * Removes a member, on behalf of the user of `membership`. Members may always leave; owners may remove anybody, and
 * admins may remove admins and viewers.
 *
 * Errors: 403 `role_insufficient`, and `verification_required` for removing an owner or admin; 404 `member_not_found`;
 * 409 `last_owner` (exact even under concurrent changes).
 */
export async function removeMember(
  ctx: Pick<Context, 'db' | 'clock'>,
  removal: Omit<MembershipChange, 'role'>,
): Promise<void> {
  await changeMembership(ctx, { ...removal, role: null })
}
