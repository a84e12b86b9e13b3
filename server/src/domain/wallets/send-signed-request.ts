import type { Query } from '../../db/query.ts'
import type { Transaction } from '../../db/transaction.ts'
import type { OwnerAssertion, RequestToSign } from '../../enclave/enclave.ts'
import { EnclaveRefused } from '../../enclave/errors.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { fenceOf, type FencedRequest } from './signing-fence.ts'
import { extendSignerLease } from './wallets-store.ts'
import { signerChangeUnderWay, type SignerLease } from './with-signer-lease.ts'

interface SignedRequest {
  readonly request: FencedRequest
  readonly toSign: RequestToSign<void>
  readonly assertion: OwnerAssertion
  /** Records who submits the signature. Returns false if the owner is no longer asked to sign this request. */
  readonly markSubmitted: Query<boolean>
  /** Stores the signature as evidence (`keepSignature`), in the transaction that records who submits it. */
  readonly keepSignature: Query<boolean>
  /** Runs in the transaction that records who submits the signature. Throws if the change is no longer possible. */
  readonly checkPossible?: (transaction: Transaction) => Promise<void>
  /** Waits until the enclave's record shows the change, because the enclave's response alone does not prove it (D15). */
  readonly readBack: () => Promise<void>
}

/**
 * Sends the signed request to the enclave, and reads the result back.
 *
 * Before that, extends the lease (the right to change the wallet's signers) to the time after which the request can no
 * longer take effect (decision 0022). So if the response is lost or this process dies, no other change can start too
 * early. The lease may be released earlier only if the enclave rejected the request, or once the change was read back:
 * until the enclave's record shows it, another change would be prepared from the old record. Even then the lease is
 * kept if an earlier attempt to send the same request may still take effect.
 *
 * Throws 409 if we no longer hold the lease, or if the owner is now asked to sign another request.
 */
export async function sendSignedRequest(
  ctx: Pick<Context, 'db' | 'clock'>,
  lease: SignerLease,
  signed: SignedRequest,
): Promise<void> {
  const wasSent = lease.mayTakeEffect
  await extendLease(ctx, lease, signed)
  try {
    await signed.toSign.submit(signed.assertion)
  } catch (error) {
    // The request certainly had no effect if the enclave rejected it. The same is true if the enclave's client threw a
    // `TypeError`, because then it sent nothing.
    if (error instanceof EnclaveRefused || error instanceof TypeError) lease.mayTakeEffect = wasSent
    throw error
  }
  await signed.readBack()
  lease.mayTakeEffect = wasSent
}

async function extendLease(
  ctx: Pick<Context, 'db' | 'clock'>,
  lease: SignerLease,
  { request, markSubmitted, keepSignature, checkPossible }: SignedRequest,
): Promise<void> {
  const until = leaseEndForSending(lease, request)
  await ctx.db.transaction(async (transaction) => {
    const [isOurs, isAsked] = await transaction.batch([
      extendSignerLease(lease.wallet, lease.until, until),
      markSubmitted,
      keepSignature,
    ])
    if (!isOurs) throw signerChangeUnderWay(ctx.clock.now())
    if (!isAsked) throw problem('signing_request_stale')
    await checkPossible?.(transaction)
  })
  lease.until = until
  lease.mayTakeEffect = true
}

/**
 * Returns the end to which the lease is extended before the request is sent: the time after which the request can no
 * longer take effect. If another caller has sent the same request before, the lease ends a millisecond later than for
 * that caller, who then no longer holds it. So an earlier sender can neither record a change nor release the lease
 * while our request is on its way.
 */
function leaseEndForSending({ until, mayTakeEffect }: SignerLease, request: FencedRequest): Date {
  if (mayTakeEffect) return new Date(until.getTime() + 1)
  const fence = fenceOf(request)
  return fence > until ? fence : until
}
