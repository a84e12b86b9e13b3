import type { Context } from '../context.ts'
import { changeMembership, type KeysLeftBehind, type MembershipChange } from './change-membership.ts'

/**
 * Removes a member. `membership` is that of the user who removes them. Every member may leave, except the last owner.
 * Owners may remove every member, and admins may remove admins and viewers.
 *
 * The member loses the API keys that they made, except those that `keepKeys` names (D88). Returns both.
 *
 * Errors: 403 `role_insufficient`, `own_keys_not_kept`, and `verification_required` if an owner or admin is removed
 * without a recent proof of the user's presence (D59); 404 `member_not_found`, `key_not_found`; 409 `last_owner` (exact
 * even under concurrent changes).
 */
export async function removeMember(
  ctx: Pick<Context, 'db' | 'clock'>,
  removal: Omit<MembershipChange, 'role'>,
): Promise<KeysLeftBehind> {
  return await changeMembership(ctx, { ...removal, role: null })
}
