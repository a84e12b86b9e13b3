import { problem } from '../../values/problem.ts'
import { lockAccount } from '../accounts/accounts-store.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { holdsSignerChange } from '../wallets/wallets-store.ts'
import { recordStatusChange, describeGrant } from './record-status-change.ts'
import { checkPolicy, type GrantTerms } from './check-policy.ts'
import { getGrant } from './get-grant.ts'
import { isBound, type Grant } from './grant.ts'
import { createEnclavePolicy } from './create-enclave-policy.ts'
import { readParties } from './read-parties.ts'
import { reconcileGrant } from './reconcile-grant.ts'
import { signerChangeUnderWay } from './refusal.ts'
import { findGrant, findPending, insertGrant, markRevoked } from './grants-store.ts'
import { withSignerChange, type SignerHold } from './with-signer-change.ts'

/**
 * Opens a pending grant that takes an active one's place when the owner signs it (D14, decision 0022). Until then the
 * active one binds, suspended or expired ones included. A replacement that waits already is dropped for it. Errors: 404;
 * 409 `grant_not_active`, `signer_change_under_way`; 400 for a bad policy.
 */
export async function openReplacement(
  ctx: Context,
  {
    accountId,
    grantId,
    terms,
    actor = OPERATOR,
  }: { accountId: string; grantId: string; terms: GrantTerms; actor?: Actor },
): Promise<Grant> {
  const createdAt = ctx.clock.now()
  const replaced = await getGrant(ctx, { accountId, grantId })
  if (replaced.status !== 'active') throw problem('grant_not_active')
  const policy = checkPolicy(terms, { defaultContracts: replaced.contractAllowlist, now: createdAt })
  const { wallet } = await readParties(ctx, replaced)
  const { agentId } = replaced
  // Under the lease from here on: of many who ask at once, one has a policy made.
  return await withSignerChange(ctx, { wallet }, async (hold) => {
    const waiting = await findWaiting(ctx, hold, { replaced, actor })
    const grant = await createEnclavePolicy(ctx, { wallet, agentId, policy, replaces: replaced.id, createdAt })
    await ctx.db.transaction(async (transaction) => {
      const now = ctx.clock.now()
      const [, isOurs, current] = await transaction.batch([
        lockAccount(accountId),
        holdsSignerChange(wallet, hold.until),
        findGrant(accountId, replaced.id),
      ])
      if (!isOurs) throw signerChangeUnderWay(now)
      if (current?.status !== 'active') throw problem('grant_not_active')
      const dropped = waiting === null ? null : await transaction.run(markRevoked(accountId, waiting.id, now))
      const details = describeGrant(grant)
      const entry = { logId: accountId, createdAt: now, actor, action: 'grant.opened', details } as const
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
 * The replacement that waits already. Under the lease on the wallet's signers, so that nobody signs it meanwhile. One
 * that the enclave enforces already, because its answer was lost, waits no more: that is recorded, and it is what there
 * is to replace.
 */
async function findWaiting(
  ctx: Context,
  hold: SignerHold,
  { replaced, actor }: { replaced: Grant; actor: Actor },
): Promise<Grant | null> {
  const waiting = await ctx.db.runRelaxed(findPending(replaced))
  if (waiting === null) return null
  const { grantSigner } = await readParties(ctx, waiting)
  const { signers } = await ctx.enclave.readWallet(hold.wallet.enclaveWalletId)
  if (!isBound(signers, grantSigner)) return waiting
  await reconcileGrant(ctx, hold, { grant: waiting, change: 'activate', signers, finder: actor })
  throw problem('grant_not_active')
}
