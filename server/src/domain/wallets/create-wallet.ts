import type { Mode } from '../../values/mode.ts'
import { checkName } from '../../values/name.ts'
import { problem } from '../../values/problem.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { enforceRateLimit } from '../enforce-rate-limit.ts'
import { requireRecentProof, type ProvenActor } from '../require-recent-proof.ts'
import { PLANS, type Plan } from '../plans/plan.ts'
import { toSpki } from './owner-passkey.ts'
import { insertOwner } from './wallet-owners-store.ts'
import { findWalletPasskey } from './wallet-passkeys-store.ts'
import { slotSealContext } from './slot-seal-context.ts'
import { insertSlots } from './slots-store.ts'
import { countWallets, insertWallet } from './wallets-store.ts'
import type { Wallet, WalletPasskey } from './wallet.ts'

/**
 * Creates a wallet with all of its slots, in the database and at the enclave. Its first owner is a wallet passkey. The
 * owner controls the money in the wallet, so creating a wallet needs a recent proof (D59).
 *
 * Errors: 400 `wallet_cap_reached` over the plan's limit (D12, exact even if wallets are created concurrently); 403
 * `verification_required`; 404 `passkey_not_found`, also for another user's passkey; 409 `signer_not_configured`; 429
 * `rate_limit_exceeded`, but not for the operator, who acts in the sandbox (D33).
 */
export async function createWallet(
  ctx: Pick<Context, 'db' | 'clock' | 'enclave' | 'sealer' | 'signer' | 'walletSlots'>,
  {
    workspaceId,
    mode,
    name: text,
    credentialId,
    actor,
  }: { workspaceId: string; mode: Mode; name: string; credentialId: string; actor: ProvenActor },
): Promise<Wallet> {
  const name = checkName(text)
  requireRecentProof(actor, ctx.clock.now())
  if (ctx.signer === null) throw problem('signer_not_configured')
  const owner = await getOwnPasskey(ctx, { credentialId, actor })
  await ctx.db.transaction(async (transaction) => {
    const [workspace, count] = await transaction.batch([lockWorkspace(workspaceId), countWallets(workspaceId, mode)])
    checkCap(workspace?.plan, count)
  })
  // The rate limit counts the request only here, right before the calls to the enclave, so that a request that was
  // rejected above is not counted.
  if (actor.kind !== 'operator') await enforceRateLimit(ctx, { subject: workspaceId, bucket: 'wallet_creation' })
  const { slots, ...made } = await ctx.enclave.createWallet({
    workspaceId,
    name,
    owners: [toSpki(owner.publicKeyCose)],
    slots: ctx.walletSlots,
  })
  const createdAt = ctx.clock.now()
  const wallet: Wallet = { workspaceId, mode, name, ...made, createdAt }
  const sealed = slots.map(({ privateKey, ...slot }) => {
    const context = slotSealContext({ workspaceId, mode, walletAddress: wallet.address }, slot.slot)
    return { ...slot, privateKeySealed: ctx.sealer.seal(privateKey, context) }
  })
  // The limit is checked again, because the lock was not held during the calls to the enclave.
  await ctx.db.transaction(async (transaction) => {
    const [workspace, count] = await transaction.batch([lockWorkspace(workspaceId), countWallets(workspaceId, mode)])
    checkCap(workspace?.plan, count)
    const details = { mode, name, credential_id: credentialId }
    const entry = { logId: workspaceId, createdAt, actor, action: 'wallet.created', details } as const
    await transaction.commit([
      insertWallet(wallet),
      insertOwner(wallet, { credentialId, addedAt: createdAt }),
      insertSlots(wallet, sealed),
      insertAuditEntry({ ...entry, subject: wallet.address }),
    ])
  })
  return wallet
}

/**
 * Returns the passkey that will own the wallet. A user may name only their own passkeys. The operator, who acts in the
 * sandbox, may name any person's passkey.
 */
async function getOwnPasskey(
  ctx: Pick<Context, 'db'>,
  { credentialId, actor }: { credentialId: string; actor: ProvenActor },
): Promise<WalletPasskey> {
  const passkey = await ctx.db.read(findWalletPasskey(credentialId))
  const isOwn = actor.kind === 'operator' || passkey?.userId === actor.id
  if (passkey === null || !isOwn) throw problem('passkey_not_found')
  return passkey
}

function checkCap(plan: Plan | undefined, count: number): void {
  const walletsMax = plan === undefined ? 0 : PLANS[plan].walletsMax
  if (walletsMax !== null && count >= walletsMax) {
    throw problem('wallet_cap_reached', { details: { wallets_max: walletsMax } })
  }
}
