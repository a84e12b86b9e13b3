import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { markOwnersInEffect } from '../owner-signatures/owner-signatures-store.ts'
import { fenceOf, issuedAt } from '../wallets/signing-fence.ts'
import { deleteOwner, insertOwner } from '../wallets/wallet-owners-store.ts'
import { holdsSignerLease } from '../wallets/wallets-store.ts'
import { signerChangeUnderWay, type SignerLease } from '../wallets/with-signer-lease.ts'
import { listOpenOwnerRequests, markOwnerRequestDone, OPEN_REQUESTS_MAX } from './owner-requests-store.ts'
import { sameMembers } from './read-change.ts'
import type { OwnerRequest } from './owner-request.ts'

/**
 * Records, exactly once, a change of owners that the enclave has made. The caller held the lease when it read the new
 * owners from the enclave. If another submission of the same signature has recorded the change, nothing is recorded.
 *
 * Throws 409 `signer_change_under_way` if we no longer hold the lease.
 */
export async function recordOwnerChange(
  ctx: Pick<Context, 'db' | 'clock'>,
  { wallet, until }: SignerLease,
  { request, actor }: { request: OwnerRequest; actor: Actor },
): Promise<void> {
  const { workspaceId: logId, mode, address: subject } = wallet
  const { credential_id: credentialId } = request.details
  await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    const [isOurs, open, isFirst] = await transaction.batch([
      holdsSignerLease(wallet, until),
      listOpenOwnerRequests(wallet, OPEN_REQUESTS_MAX),
      markOwnerRequestDone(request, actor, now),
    ])
    if (!isOurs) throw signerChangeUnderWay(now)
    if (!isFirst) {
      await transaction.rollback()
      return
    }
    const isAddition = request.kind === 'add_owner'
    const action = isAddition ? 'wallet.owner_added' : 'wallet.owner_removed'
    const details = { mode, credential_id: credentialId }
    // The request that the enclave has carried out may be an earlier one for the same change. It had no effect before this
    // one was issued, because the owners were read then.
    const same = open.filter((one) => {
      return sameMembers(one.details.after, request.details.after) && fenceOf(one) >= issuedAt(request)
    })
    await transaction.commit([
      isAddition ? insertOwner(wallet, { credentialId, addedAt: now }) : deleteOwner(wallet, credentialId),
      insertAuditEntry({ logId, createdAt: now, actor, action, subject, details }),
      markOwnersInEffect(wallet, [request, ...same].map(fenceOf)),
    ])
  })
}
