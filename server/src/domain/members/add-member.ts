import type { Workspace } from '../workspaces/workspace.ts'
import type { Operator } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { joinWorkspace } from './join-workspace.ts'
import type { Membership } from './member.ts'
import type { Role } from '../../values/role.ts'

/**
 * Makes a user a member without an invitation, which only the operator may do. A member's role can be raised this way,
 * but not lowered.
 *
 * Errors: 409 `workspace_limit_reached`.
 */
export async function addMember(
  ctx: Pick<Context, 'db' | 'clock'>,
  joining: { workspace: Workspace; userId: string; role: Role; actor: Operator },
): Promise<Membership> {
  const now = ctx.clock.now()
  return await ctx.db.transaction((transaction) => joinWorkspace(transaction, { ...joining, now }))
}
