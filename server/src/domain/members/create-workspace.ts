import { Problem, problem } from '../../values/problem.ts'
import { createWorkspaceIn } from '../workspaces/create-empty-workspace.ts'
import type { Context } from '../context.ts'
import type { Plan } from '../plans/plan.ts'
import { lockUser } from '../passkeys/passkeys-store.ts'
import { WORKSPACES_MAX, type Membership } from './member.ts'
import { countMemberships, insertMember } from './members-store.ts'
import { recordFirstWorkspace } from './record-first-workspace.ts'

/**
 * Creates a workspace. The user becomes its first member, with the role of owner.
 *
 * Errors: 400 for a name that is not allowed; 409 `workspace_limit_reached` (exact even under concurrent changes).
 */
export async function createWorkspace(
  ctx: Pick<Context, 'db' | 'clock'>,
  { userId, name, plan = 'developer' }: { userId: string; name: string; plan?: Plan },
): Promise<Membership> {
  const createdAt = ctx.clock.now()
  return await ctx.db.transaction(async (transaction) => {
    const [isThere, count] = await transaction.batch([lockUser(userId), countMemberships(userId)])
    if (!isThere) throw new Problem('unauthenticated', 'The session has ended. Sign up again.')
    if (count >= WORKSPACES_MAX) throw problem('workspace_limit_reached')
    const workspace = await createWorkspaceIn(transaction, {
      name,
      plan,
      actor: { kind: 'user', id: userId },
      createdAt,
    })
    const membership = { workspace, userId, role: 'owner', createdAt } as const
    const entries = await recordFirstWorkspace(transaction, { userId, now: createdAt })
    await transaction.commit([...entries, insertMember(workspace.id, membership)])
    return membership
  })
}
