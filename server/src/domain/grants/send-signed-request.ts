import { EnclaveRefused } from '../../enclave/errors.ts'
import type { OwnerAssertion } from '../../enclave/signer-change.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { extendSignerLease } from '../wallets/wallets-store.ts'
import type { Grant, StoredSigningRequest } from './grant.ts'
import { signerChangeUnderWay } from './grant-problems.ts'
import { fenceOf } from './signing-request.ts'
import { markSubmitted } from './grants-store.ts'
import type { SignerLease } from './with-signer-lease.ts'

interface SignedRequest {
  readonly grant: Grant
  readonly request: StoredSigningRequest
  readonly assertion: OwnerAssertion
  readonly actor: Actor
}

/**
 * Sends the signed request to the enclave.
 *
 * Before that, it extends the lease until the time after which the request can no longer take effect. So if the
 * response is lost or this process dies, no other change can start too early. Once the outcome is known, the lease can
 * be released early, unless an earlier attempt to send the same request may still take effect. Throws if the lease is
 * no longer ours.
 */
export async function sendSignedRequest(ctx: Context, lease: SignerLease, signed: SignedRequest): Promise<void> {
  const { request, assertion } = signed
  const wasSent = lease.mayTakeEffect
  await extendLeaseToFence(ctx, lease, signed)
  try {
    await ctx.enclave.applySignerChange({
      enclaveWalletId: lease.wallet.enclaveWalletId,
      signers: request.after,
      expiresAt: new Date(request.expires_at),
      assertion,
    })
    lease.mayTakeEffect = wasSent
  } catch (error) {
    // If the client throws a `TypeError`, nothing was sent.
    if (error instanceof EnclaveRefused || error instanceof TypeError) lease.mayTakeEffect = wasSent
    throw error
  }
}

async function extendLeaseToFence(
  ctx: Context,
  lease: SignerLease,
  { grant, request, actor }: SignedRequest,
): Promise<void> {
  const fence = fenceOf(request)
  const until = fence > lease.until ? fence : lease.until
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
