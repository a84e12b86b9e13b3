import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { createEmptyWorkspace } from '../workspaces/create-empty-workspace.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { createInvitation } from './create-invitation.ts'
import type { Invitation } from './invitation.ts'

/**
 * Creates a workspace for somebody who may not sign up otherwise, and the invitation with which they become its owner.
 * Its secret is shown once. The operator calls this, so the audit log names nobody.
 *
 * Errors: 400 for a name that is not allowed.
 */
export async function createInvitedWorkspace(
  ctx: Pick<Context, 'db' | 'clock'>,
  { name }: { name: string },
): Promise<{ workspace: Workspace; invitation: Invitation; secret: string }> {
  const workspace = await createEmptyWorkspace(ctx, { name, plan: 'developer', actor: OPERATOR })
  return { workspace, ...(await createInvitation(ctx, { workspace, role: 'owner', actor: OPERATOR })) }
}
