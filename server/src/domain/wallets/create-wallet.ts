import { randomUUID } from 'node:crypto'
import type { Mode } from '../../values/mode.ts'
import { checkName } from '../../values/name.ts'
import { problem } from '../../values/problem.ts'
import { lockAccount } from '../accounts/accounts-store.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { requireRecentProof, type ProvenActor } from '../require-recent-proof.ts'
import { PLANS, type Plan } from '../plans/plan.ts'
import { toSpki } from './owner-passkey.ts'
import { countWallets, insertWallet } from './wallets-store.ts'
import type { OwnerPasskey, Wallet } from './wallet.ts'

/**
 * Creates a wallet whose only owner is the passkey, at the enclave as well. A wallet's owner controls the money in it,
 * so creating one needs a recent proof (D59).
 *
 * Errors: 400 `wallet_cap_reached` over the plan's limit (D12, exact even if wallets are created concurrently); 400
 * `validation_failed` if the passkey is not ES256; 403 `verification_required`.
 */
export async function createWallet(
  ctx: Pick<Context, 'db' | 'clock' | 'enclave'>,
  {
    accountId,
    mode,
    name: text,
    owner,
    actor,
  }: { accountId: string; mode: Mode; name: string; owner: OwnerPasskey; actor: ProvenActor },
): Promise<Wallet> {
  const name = checkName(text)
  requireRecentProof(actor, ctx.clock.now())
  const ownerPublicKey = toSpki(owner.publicKeyCose)
  await ctx.db.transaction(async (transaction) => {
    const [account, count] = await transaction.batch([lockAccount(accountId), countWallets(accountId, mode)])
    checkCap(account?.plan, count)
  })
  const made = await ctx.enclave.createWallet({ ownerPublicKey, name, idempotencyKey: randomUUID() })
  const wallet: Wallet = {
    accountId,
    mode,
    address: made.address,
    name,
    enclaveWalletId: made.enclaveWalletId,
    ownerQuorumId: made.ownerQuorumId,
    owner,
    createdAt: ctx.clock.now(),
  }
  // The limit is checked again, because the lock was not held during the call to the enclave.
  await ctx.db.transaction(async (transaction) => {
    const [account, count] = await transaction.batch([lockAccount(accountId), countWallets(accountId, mode)])
    checkCap(account?.plan, count)
    const details = { mode, name }
    const entry = { logId: accountId, createdAt: wallet.createdAt, actor, action: 'wallet.created', details } as const
    await transaction.commit([insertWallet(wallet), insertAuditEntry({ ...entry, subject: wallet.address })])
  })
  return wallet
}

function checkCap(plan: Plan | undefined, count: number): void {
  const walletsMax = plan === undefined ? 0 : PLANS[plan].walletsMax
  if (walletsMax !== null && count >= walletsMax) {
    throw problem('wallet_cap_reached', { details: { wallets_max: walletsMax } })
  }
}
