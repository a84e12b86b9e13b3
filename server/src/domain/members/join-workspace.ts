import type { Transaction } from '../../db/transaction.ts'
import { Problem, problem } from '../../values/problem.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import { lockUser } from '../passkeys/passkeys-store.ts'
import { WORKSPACES_MAX, type Membership } from './member.ts'
import { countMemberships, findMember, insertMember, updateRole } from './members-store.ts'
import { recordFirstWorkspace } from './record-first-workspace.ts'
import { isAtLeast, type Role } from '../../values/role.ts'

export interface JoinRequest {
  readonly workspace: Workspace
  readonly userId: string
  readonly role: Role
  readonly actor: Actor
  readonly now: Date
  /** Details for the audit log, in addition to the role. */
  readonly details?: Readonly<Record<string, unknown>>
  /**
   * Called only if the membership changes. For example, it counts one use of an invitation, and throws if none is left.
   */
  readonly takeUse?: () => Promise<void>
}

/**
 * Makes a user a member, or raises a member's role. If the member already has that role or a higher one, nothing
 * changes and `takeUse` is not called.
 *
 * Locks the workspace first, then the user. Every change that locks both must use this order, to avoid deadlocks.
 */
export async function joinWorkspace(
  transaction: Transaction,
  { workspace, userId, role, actor, now, details = {}, takeUse }: JoinRequest,
): Promise<Membership> {
  const [, isThere, member, count] = await transaction.batch([
    lockWorkspace(workspace.id),
    lockUser(userId),
    findMember(workspace.id, userId),
    countMemberships(userId),
  ])
  if (!isThere) throw new Problem('unauthenticated', 'The session has ended. Sign up again.')
  if (member !== null && isAtLeast(member.role, role)) return { ...member, workspace }
  if (member === null && count >= WORKSPACES_MAX) throw problem('workspace_limit_reached')
  await takeUse?.()
  const joined = { userId, role, createdAt: member?.createdAt ?? now }
  const entries = member === null ? await recordFirstWorkspace(transaction, { userId, now }) : []
  await transaction.commit([
    ...entries,
    member === null ? insertMember(workspace.id, joined) : updateRole(workspace.id, userId, role),
    insertAuditEntry({
      logId: workspace.id,
      createdAt: now,
      actor,
      action: member === null ? 'member.joined' : 'member.role_changed',
      subject: userId,
      details: { role, before: member?.role, ...details },
    }),
  ])
  return { ...joined, workspace }
}
