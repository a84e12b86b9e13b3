import type { Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { signerChangeUnderWay } from '../grants/grant-problems.ts'
import type { SignerLease } from '../grants/with-signer-lease.ts'
import { markOwnerRequestDone } from './owner-requests-store.ts'
import type { OwnerRequest } from './owner-request.ts'
import { holdsSignerLease } from '../wallets/wallets-store.ts'
import type { EnclaveChange } from './enclave-change.ts'

/**
 * Records, exactly once, a change of owners that the enclave has made. The caller held the lease when it read the new
 * owners from the enclave. If another submission of the same signature has recorded the change, nothing is recorded.
 *
 * Throws 409 `signer_change_under_way` if we no longer hold the lease.
 */
export async function recordOwnerChange(
  ctx: Pick<Context, 'db' | 'clock'>,
  lease: SignerLease,
  { request, change, actor }: { request: OwnerRequest; change: EnclaveChange; actor: Actor },
): Promise<void> {
  await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    const [isOurs, isFirst] = await transaction.batch([
      holdsSignerLease(lease.wallet, lease.until),
      markOwnerRequestDone(request, actor, now),
    ])
    if (!isOurs) throw signerChangeUnderWay(now)
    if (!isFirst) {
      await transaction.rollback()
      return
    }
    await transaction.commit(await change.record(transaction, { now, actor }))
  })
}
