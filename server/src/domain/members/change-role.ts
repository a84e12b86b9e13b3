import type { Context } from '../context.ts'
import { changeMembership, type MembershipChange } from './change-membership.ts'
import type { Role } from './role.ts'

/**
 * Gives a member another role, as `membership`'s person: an owner may manage everybody, an admin admins and viewers.
 * The role that they have already changes nothing. Errors: 403 `role_insufficient`, and
 * `verification_required` unless both roles are viewer; 404 `member_not_found`; 409 `last_owner` (exact under races).
 */
export async function changeRole(
  ctx: Pick<Context, 'db' | 'clock'>,
  change: MembershipChange & { readonly role: Role },
): Promise<void> {
  await changeMembership(ctx, change)
}
