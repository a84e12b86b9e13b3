import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { fenceOf } from '../grants/signing-fence.ts'
import type { SignerLease } from '../grants/with-signer-lease.ts'
import type { OwnerRequest } from './owner-request.ts'
import { clearOwnerRequestSubmitter } from './owner-requests-store.ts'
import { makeOwnersChange } from './make-owners-change.ts'
import { toFenced } from './queries.ts'
import { recordOwnerChange } from './record-owner-change.ts'

/**
 * Records a change of owners that was submitted and that the enclave has made, although its response never reached us.
 * The change is attributed to the person who submitted it. Returns the request of this change, or null if there was no
 * such change. A request that had no effect and can no longer take effect does not count as submitted any more.
 */
export async function reconcileOwners(
  ctx: Pick<Context, 'db' | 'clock' | 'enclave'>,
  lease: SignerLease,
  { submitted }: { submitted: readonly OwnerRequest[] },
): Promise<OwnerRequest | null> {
  for (const request of submitted) {
    const change = makeOwnersChange(ctx, { wallet: lease.wallet, request })
    if ((await change.readState()) !== 'after' || (await change.isRecorded())) {
      // Until its fence has passed, the request may still take effect, or the enclave's reads may not show its effect
      // yet.
      if (ctx.clock.now() >= fenceOf(toFenced(request))) await ctx.db.write(clearOwnerRequestSubmitter(request))
      continue
    }
    await recordOwnerChange(ctx, lease, { request, change, actor: request.submittedBy ?? OPERATOR })
    return request
  }
  return null
}
