import { problem } from '../../values/problem.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import type { WalletSlot } from '../wallets/wallet.ts'
import { holdsSignerLease } from '../wallets/wallets-store.ts'
import { signerChangeUnderWay, withSignerLease, type SignerLease } from '../wallets/with-signer-lease.ts'
import { recordStatusChange, describeGrant } from './record-status-change.ts'
import { checkPolicy, type GrantTerms } from './check-policy.ts'
import { getGrant } from './queries.ts'
import type { Grant } from './grant.ts'
import { getWalletAndSlot } from './get-wallet-and-slot.ts'
import { isEnforced } from './grant-rules.ts'
import { makePending } from './open-grant.ts'
import { reconcileGrant } from './reconcile-grant.ts'
import { findGrant, findPending, insertGrant, markGrantRevoked } from './grants-store.ts'

/**
 * Opens a pending grant that replaces an active one, in the same slot, when the owner signs it (D14, decision 0022).
 * Until then the active grant stays in force, even if it is suspended or expired. An earlier replacement that is still
 * pending is dropped.
 *
 * Errors: 404; 409 `grant_not_active`, `signer_change_under_way`; 400 for terms that are not
 * allowed.
 */
export async function openReplacement(
  ctx: Context,
  { workspaceId, grantId, terms, actor }: { workspaceId: string; grantId: string; terms: GrantTerms; actor: Actor },
): Promise<Grant> {
  const createdAt = ctx.clock.now()
  const replaced = await getGrant(ctx, { workspaceId, grantId })
  if (replaced.status !== 'active') throw problem('grant_not_active')
  const { usdc } = ctx.chains[replaced.mode]
  const policy = checkPolicy(terms, { usdc, defaultContracts: replaced.contractAllowlist, now: createdAt })
  const { wallet, slot } = await getWalletAndSlot(ctx, replaced)
  return await withSignerLease(ctx, { wallet }, async (lease) => {
    const waiting = await findPendingReplacement(ctx, lease, { replaced, slot, actor })
    const { mode, agentId, walletAddress } = replaced
    const place = { workspaceId, mode, agentId, walletAddress, slot: slot.slot }
    const grant = makePending({ policy, ...place, replaces: replaced.id, createdAt, actor })
    await ctx.db.transaction(async (transaction) => {
      const now = ctx.clock.now()
      const [, isOurs, current] = await transaction.batch([
        lockWorkspace(workspaceId),
        holdsSignerLease(wallet, lease.until),
        findGrant(workspaceId, replaced.id),
      ])
      if (!isOurs) throw signerChangeUnderWay(now)
      if (current?.status !== 'active') throw problem('grant_not_active')
      const dropped = waiting === null ? null : await transaction.run(markGrantRevoked(workspaceId, waiting.id, now))
      const details = describeGrant(grant)
      const entry = { logId: workspaceId, createdAt: now, actor, action: 'grant.opened', details } as const
      await transaction.commit([
        ...(dropped === null ? [] : recordStatusChange(dropped, { now, actor })),
        insertGrant(grant),
        insertAuditEntry({ ...entry, subject: grant.id }),
      ])
    })
    return grant
  })
}

/**
 * Returns the pending replacement, or null. The caller holds the lease on the wallet's grants, so nobody can sign it
 * meanwhile.
 *
 * If the response to the signed replacement was lost, the enclave may already enforce it. If so, this function records
 * that the replacement is active, and throws `grant_not_active`, because the replacement is now the grant to replace.
 */
async function findPendingReplacement(
  ctx: Context,
  lease: SignerLease,
  { replaced, slot, actor }: { replaced: Grant; slot: WalletSlot; actor: Actor },
): Promise<Grant | null> {
  const waiting = await ctx.db.read(findPending(replaced))
  if (waiting === null) return null
  const rules = await ctx.enclave.readRules(slot)
  if (!isEnforced(rules, waiting)) return waiting
  await reconcileGrant(ctx, lease, { grant: waiting, slot, change: 'activate', rules, foundBy: actor })
  throw problem('grant_not_active')
}
