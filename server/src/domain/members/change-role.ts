import type { Context } from '../context.ts'
import { changeMembership, type KeysLeftBehind, type MembershipChange } from './change-membership.ts'
import type { Role } from '../../values/role.ts'

/**
 * Changes a member's role. `membership` is that of the user who makes the change. Owners may change every role. Admins
 * may change the roles of admins and viewers, but cannot make anybody an owner. Has no effect if the member already has
 * the role.
 *
 * A member who becomes a viewer loses the API keys that they made, except those that `keepKeys` names (D88). Returns
 * both.
 *
 * Errors: 400 if `keepKeys` names keys and the new role is not viewer; 403 `role_insufficient`, `own_keys_not_kept`, and
 * `verification_required` without a recent proof of the user's presence (D59); 404 `member_not_found`, `key_not_found`;
 * 409 `last_owner` (exact even under concurrent changes).
 */
export async function changeRole(
  ctx: Pick<Context, 'db' | 'clock'>,
  change: MembershipChange & { readonly role: Role },
): Promise<KeysLeftBehind> {
  return await changeMembership(ctx, change)
}
