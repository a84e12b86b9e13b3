import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { holdsSignerLease } from '../wallets/wallets-store.ts'
import type { Grant } from './grant.ts'
import { signerChangeUnderWay } from './grant-problems.ts'
import { markResumed } from './grants-store.ts'
import { describeGrant } from './record-status-change.ts'
import type { SignerLease } from './with-signer-lease.ts'

/**
 * Records that the owner has signed a suspended grant's terms again, so that it is no longer suspended. If the grant
 * was suspended only after the owner had been shown the terms to sign, it stays suspended: 409 `signing_request_stale`.
 *
 * Throws unless the lease on the wallet's grants is still ours.
 */
export async function recordResume(
  ctx: Pick<Context, 'db' | 'clock'>,
  { wallet, until }: SignerLease,
  { grant, actor, signedSince }: { grant: Grant; actor: Actor; signedSince: Date },
): Promise<Grant> {
  const { accountId, id } = grant
  return await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    const [isOurs, resumed] = await transaction.batch([
      holdsSignerLease(wallet, until),
      markResumed(accountId, id, signedSince),
    ])
    if (!isOurs) throw signerChangeUnderWay(now)
    if (resumed === null) throw problem('signing_request_stale')
    const details = describeGrant(resumed)
    const entry = { logId: accountId, createdAt: now, actor, action: 'grant.resumed', subject: id, details } as const
    await transaction.commit([insertAuditEntry(entry)])
    return resumed
  })
}
