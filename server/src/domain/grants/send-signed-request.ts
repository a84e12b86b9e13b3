import type { OwnerAssertion, RequestToSign } from '../../enclave/enclave.ts'
import { EnclaveRefused } from '../../enclave/errors.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { extendSignerLease } from '../wallets/wallets-store.ts'
import type { Grant, StoredSigningRequest } from './grant.ts'
import { signerChangeUnderWay } from './grant-problems.ts'
import { markSubmitted } from './grants-store.ts'
import { leaseEndForSending, type SignerLease } from './with-signer-lease.ts'

interface SignedRequest {
  readonly grant: Grant
  readonly request: StoredSigningRequest
  readonly toSign: RequestToSign<void>
  readonly assertion: OwnerAssertion
  readonly actor: Actor
}

/**
 * Sends the signed request to the enclave.
 *
 * Before that, extends the lease (the right to change the wallet's signers) to the time after which the request can no
 * longer take effect. So if the response is lost or this process dies, no other change can start too early. If the
 * enclave rejected the request, the lease can be released early, unless an earlier attempt to send the same request may
 * still take effect. If the enclave accepted it, the caller must read the result back before it releases the lease.
 * Throws 409 if we no longer hold the lease, or if the owner is now asked to sign another request.
 */
export async function sendSignedRequest(ctx: Context, lease: SignerLease, signed: SignedRequest): Promise<void> {
  const { toSign, assertion } = signed
  const wasSent = lease.mayTakeEffect
  await extendLeaseToFence(ctx, lease, signed)
  try {
    await toSign.submit(assertion)
  } catch (error) {
    // The request certainly had no effect if the enclave rejected it. The same is true if the enclave's client threw a
    // `TypeError`, because then it sent nothing.
    if (error instanceof EnclaveRefused || error instanceof TypeError) lease.mayTakeEffect = wasSent
    throw error
  }
}

async function extendLeaseToFence(
  ctx: Context,
  lease: SignerLease,
  { grant, request, actor }: SignedRequest,
): Promise<void> {
  const until = leaseEndForSending(lease, request)
  await ctx.db.transaction(async (transaction) => {
    const [isOurs, isAsked] = await transaction.batch([
      extendSignerLease(lease.wallet, lease.until, until),
      markSubmitted(grant, { ...request, handed_in_by: actor }),
    ])
    if (!isOurs) throw signerChangeUnderWay(ctx.clock.now())
    if (!isAsked) throw problem('signing_request_stale')
  })
  lease.until = until
  lease.mayTakeEffect = true
}
