import type { Account } from '../../../server/src/domain/accounts/account.ts'
import type { Grant, GrantAction } from '../../../server/src/domain/grants/grant.ts'
import { issueSigningRequest } from '../../../server/src/domain/grants/issue-signing-request.ts'
import { submitSignature } from '../../../server/src/domain/grants/submit-signature.ts'
import { serialQueue, type Enqueue } from '../chain/serial-queue.ts'
import { ownerOf } from './owners.ts'
import type { ControlContext } from './control-context.ts'

/** A person signs one thing after the other; two changes of one wallet's signers at once would be refused. */
const queues = new Map<string, Enqueue>()

/** Activates or revokes a grant as its owner: reads what is to be signed, signs it with the passkey, and hands that in. */
export async function signGrant(
  world: ControlContext,
  { account, grantId, change }: { account: Account; grantId: string; change: GrantAction },
): Promise<Grant> {
  const queue = queues.get(account.id) ?? serialQueue()
  queues.set(account.id, queue)
  return await queue(async () => {
    const accountId = account.id
    const request = await issueSigningRequest(world.context, { accountId, grantId, change })
    if (request.challenge === null) return request.grant
    const assertion = ownerOf(world, account.slug).assert(request.challenge)
    return await submitSignature(world.context, { accountId, grantId, assertion })
  })
}
