import type { Context } from '../context.ts'
import type { Membership } from './member.ts'
import { moveMember } from './move-member.ts'
import type { Role } from './role.ts'

/**
 * Gives a member another role, as `membership`'s person: an owner may manage everybody, an admin admins and viewers.
 * The role that they have already changes nothing. Errors: 403 `role_insufficient`; 404 `member_not_found`; 409
 * `last_owner` (exact under races).
 */
export async function changeRole(
  ctx: Pick<Context, 'db' | 'clock'>,
  change: { membership: Membership; userId: string; role: Role },
): Promise<void> {
  await moveMember(ctx, change)
}
