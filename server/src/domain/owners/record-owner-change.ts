import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { markOwnerChangeInEffect } from '../owner-signatures/owner-signatures-store.ts'
import { fenceOf } from '../wallets/signing-fence.ts'
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
    // The request that the enclave has carried out may be another one for the same change. It is the last one that was
    // sent, because each is sent only when those before it can no longer take effect.
    const sent = open.filter(({ submittedBy, details: { after } }) => {
      return submittedBy !== null && sameMembers(after, request.details.after)
    })
    const carriedOut = sent.reduce((last, one) => (one.expiresAt > last.expiresAt ? one : last), sent[0] ?? request)
    await transaction.commit([
      isAddition ? insertOwner(wallet, { credentialId, addedAt: now }) : deleteOwner(wallet, credentialId),
      insertAuditEntry({ logId, createdAt: now, actor, action, subject, details }),
      markOwnerChangeInEffect(wallet, fenceOf(carriedOut)),
    ])
  })
}
