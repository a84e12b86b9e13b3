import type { Context } from '../context.ts'
import { changeMembership, type MembershipChange } from './change-membership.ts'
import type { Role } from './role.ts'

/**
 * Changes a member's role, on behalf of the user of `membership`. Owners may manage everybody; admins may manage admins
 * and viewers. Has no effect if the member already has the role.
 *
 * Errors: 403 `role_insufficient`, and `verification_required` unless both roles are viewer; 404 `member_not_found`;
 * 409 `last_owner` (exact even under concurrent changes).
 */
export async function changeRole(
  ctx: Pick<Context, 'db' | 'clock'>,
  change: MembershipChange & { readonly role: Role },
): Promise<void> {
  await changeMembership(ctx, change)
}
