import { OPERATOR } from '../../../server/src/domain/audit/audit-entry.ts'
import type { Account } from '../../../server/src/domain/accounts/account.ts'
import type { Grant, GrantChange } from '../../../server/src/domain/grants/grant.ts'
import { issueSigningRequest } from '../../../server/src/domain/grants/issue-signing-request.ts'
import { submitSignature } from '../../../server/src/domain/grants/submit-signature.ts'
import { serialQueue, type Enqueue } from '../chain/serial-queue.ts'
import { walletOwnerOf } from './owners.ts'
import type { ControlContext } from './control-context.ts'

/**
 * A queue for each workspace. The workspace's owner signs one change at a time, because the server rejects a change to
 * a wallet's grants while another change is under way.
 */
const queues = new Map<string, Enqueue>()

/**
 * Activates, revokes or resumes a grant as its owner: fetches the request to sign, signs it with the wallet passkey,
 * and submits the signature.
 */
export async function signGrant(
  control: ControlContext,
  { account, grantId, change }: { account: Account; grantId: string; change: GrantChange },
): Promise<Grant> {
  const queue = queues.get(account.id) ?? serialQueue()
  queues.set(account.id, queue)
  return await queue(async () => {
    const accountId = account.id
    const { grant, request } = await issueSigningRequest(control.context, {
      accountId,
      grantId,
      change,
      actor: OPERATOR,
    })
    if (request === null) return grant
    const assertion = walletOwnerOf(control, account.slug).assert(request.payload)
    return await submitSignature(control.context, { accountId, grantId, assertion, actor: OPERATOR })
  })
}
