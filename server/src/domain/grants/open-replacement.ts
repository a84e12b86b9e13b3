import { problem } from '../../values/problem.ts'
import { lockAccount } from '../accounts/store.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/store.ts'
import type { Context } from '../context.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { announceMove, describeGrant } from './announce-move.ts'
import { checkPolicy, type GrantTerms } from './check-policy.ts'
import { getGrant } from './get-grant.ts'
import { isBound, type Grant } from './grant.ts'
import { readParties } from './issue-signing-request.ts'
import { layDownPolicy } from './lay-down-policy.ts'
import { recordChange } from './record-change.ts'
import { findGrant, findPending, insertGrant, markRevoked } from './store.ts'
import { withSignerChange } from './with-signer-change.ts'

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
  const grant = await layDownPolicy(ctx, { wallet, agentId, policy, replaces: replaced.id, createdAt })
  await withSignerChange(ctx, wallet, async () => {
    const waiting = await findWaiting(ctx, { replaced, wallet, actor })
    await ctx.db.transaction(async (transaction) => {
      const now = ctx.clock.now()
      const [, current] = await transaction.batch([lockAccount(accountId), findGrant(accountId, replaced.id)])
      if (current?.status !== 'active') throw problem('grant_not_active')
      const dropped = waiting === null ? null : await transaction.run(markRevoked(accountId, waiting.id, now))
      const details = describeGrant(grant)
      const entry = { logId: accountId, createdAt: now, actor, action: 'grant.opened', details } as const
      await transaction.commit([
        ...(dropped === null ? [] : announceMove(dropped, { now, actor })),
        insertGrant(grant),
        insertAuditEntry({ ...entry, subject: grant.id }),
      ])
    })
  })
  return grant
}

/**
 * The replacement that waits already. Under the lease on the wallet's signers, so that nobody signs it meanwhile. One
 * that the enclave enforces already, because its answer was lost, waits no more: that is recorded, and it is what there
 * is to replace.
 */
async function findWaiting(
  ctx: Context,
  { replaced, wallet, actor }: { replaced: Grant; wallet: Wallet; actor: Actor },
): Promise<Grant | null> {
  const waiting = await ctx.db.read(findPending(replaced))
  if (waiting === null) return null
  const { grantSigner } = await readParties(ctx, waiting)
  const { signers } = await ctx.enclave.readWallet(wallet.enclaveWalletId)
  if (!isBound(signers, grantSigner)) return waiting
  await recordChange(ctx, { grant: waiting, change: 'activate', signers, actor })
  throw problem('grant_not_active')
}
