import { OPERATOR } from '../../../server/src/domain/audit/audit-entry.ts'
import type { Workspace } from '../../../server/src/domain/workspaces/workspace.ts'
import type { Grant, GrantChange } from '../../../server/src/domain/grants/grant.ts'
import { issueSigningRequest } from '../../../server/src/domain/grants/issue-signing-request.ts'
import { submitSignature } from '../../../server/src/domain/grants/submit-signature.ts'
import { issueResumeRequest } from '../../../server/src/domain/stops/issue-resume-request.ts'
import { resumeGrants } from '../../../server/src/domain/stops/resume-grants.ts'
import { challengeOf } from '../../../server/src/domain/stops/resume-statement.ts'
import { serialQueue, type Enqueue } from '../chain/serial-queue.ts'
import { walletOwnerOf } from './owners.ts'
import type { ControlContext } from './control-context.ts'

/**
 * A queue for each workspace. The workspace's owner signs one change at a time, because the server rejects a change to
 * a wallet's grants while another change is under way.
 */
const queues = new Map<string, Enqueue>()

/**
 * Activates or revokes a grant as its owner: fetches the request to sign, signs it with the wallet passkey,
 * and submits the signature.
 */
export async function signGrant(
  control: ControlContext,
  { workspace, grantId, change }: { workspace: Workspace; grantId: string; change: GrantChange },
): Promise<Grant> {
  const queue = queues.get(workspace.id) ?? serialQueue()
  queues.set(workspace.id, queue)
  return await queue(async () => {
    const workspaceId = workspace.id
    const { grant, request } = await issueSigningRequest(control.context, {
      workspaceId,
      grantId,
      change,
      actor: OPERATOR,
    })
    if (request === null) return grant
    const assertion = walletOwnerOf(control, workspace.slug).assert(request.payload)
    return await submitSignature(control.context, { workspaceId, grantId, assertion, actor: OPERATOR })
  })
}

/** Resumes a suspended grant as its owner, who signs the statement that names it. */
export async function resumeGrant(
  control: ControlContext,
  { workspace: { id: workspaceId, slug }, grantId }: { workspace: Workspace; grantId: string },
): Promise<Grant> {
  const { payload, expiresAt } = await issueResumeRequest(control.context, { workspaceId, grantId })
  const assertion = walletOwnerOf(control, slug).assert(challengeOf(payload))
  const [grant] = await resumeGrants(control.context, { workspaceId, grantId, expiresAt, assertion, actor: OPERATOR })
  return grant
}
