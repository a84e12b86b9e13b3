import { EnclaveRefused } from '../../enclave/errors.ts'
import type { OwnerAssertion } from '../../enclave/signer-change.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { prolongSignerChange } from '../wallets/wallets-store.ts'
import type { Grant, StoredSigningRequest } from './grant.ts'
import { signerChangeUnderWay } from './refusal.ts'
import { fenceOf } from './signing-request.ts'
import { markHandedIn } from './grants-store.ts'
import type { SignerHold } from './with-signer-change.ts'

interface SignedRequest {
  readonly grant: Grant
  readonly request: StoredSigningRequest
  readonly assertion: OwnerAssertion
  readonly actor: Actor
}

/**
 * Sends the enclave what the owner signed. Before that, and only while the lease is still ours, the lease is made to
 * last until the request can come into force no more: so it stays when the answer is lost, or we die. It can be given
 * back early once the outcome is known, unless an earlier sending of the same request is still on its way.
 */
export async function sendSigned(ctx: Context, hold: SignerHold, signed: SignedRequest): Promise<void> {
  const { request, assertion } = signed
  const wasSent = hold.mayArrive
  await raiseFence(ctx, hold, signed)
  try {
    await ctx.enclave.applySignerChange({
      enclaveWalletId: hold.wallet.enclaveWalletId,
      signers: request.after,
      expiresAt: new Date(request.expires_at),
      assertion,
    })
    hold.mayArrive = wasSent
  } catch (error) {
    // A `TypeError` is thrown before anything is sent.
    if (error instanceof EnclaveRefused || error instanceof TypeError) hold.mayArrive = wasSent
    throw error
  }
}

async function raiseFence(ctx: Context, hold: SignerHold, { grant, request, actor }: SignedRequest): Promise<void> {
  const fence = fenceOf(request)
  const until = fence > hold.until ? fence : hold.until
  await ctx.db.transaction(async (transaction) => {
    const [isOurs, isAsked] = await transaction.batch([
      prolongSignerChange(hold.wallet, hold.until, until),
      markHandedIn(grant, { ...request, handed_in_by: actor }),
    ])
    if (!isOurs) throw signerChangeUnderWay(ctx.clock.now())
    if (!isAsked) throw problem('signing_request_stale')
  })
  hold.until = until
  hold.mayArrive = true
}
