import type { Address } from '../../values/address.ts'
import type { AgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import { lockAccount } from '../accounts/accounts-store.ts'
import { signerSealContext } from '../agents/signer-seal.ts'
import { findSigner, keepSigner, type SignerRow } from '../agents/agents-store.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { findWallet } from '../wallets/wallets-store.ts'
import { describeGrant } from './record-status-change.ts'
import { checkPolicy, type GrantTerms } from './check-policy.ts'
import { GRANTS_PER_WALLET_MAX, type Grant } from './grant.ts'
import { createEnclavePolicy } from './create-enclave-policy.ts'
import { policyName } from './policy-name.ts'
import { countLiveGrants, insertGrant } from './grants-store.ts'

export interface OpenGrantRequest extends GrantTerms {
  readonly accountId: string
  readonly mode: Mode
  readonly agentId: AgentId
  readonly wallet: Address
  readonly actor?: Actor
}

/**
 * Opens a pending grant: the policy is laid down at the enclave, owned by the wallet's owner, and binds nobody yet.
 * Errors: 404 `agent_not_found`, `wallet_not_found`; 409 `grant_exists`, `grant_limit_reached`; 400 for a bad policy.
 */
export async function openGrant(ctx: Context, request: OpenGrantRequest): Promise<Grant> {
  const { accountId, mode, agentId, actor = OPERATOR } = request
  const createdAt = ctx.clock.now()
  const policy = checkPolicy(request, { defaultContracts: [ctx.chains[mode].usdc], now: createdAt })
  const [signer, wallet] = await ctx.db.runRelaxedPair(
    findSigner(accountId, mode, agentId),
    findWallet(accountId, mode, request.wallet),
  )
  if (signer === null) throw problem('agent_not_found')
  if (wallet === null) throw problem('wallet_not_found')
  checkRoom(await ctx.db.runRelaxed(countLiveGrants(accountId, mode, wallet.address, agentId)))

  if (signer.signerId === null) await createSigner(ctx, { accountId, mode, agentId })
  const grant = await createEnclavePolicy(ctx, { wallet, agentId, policy, replaces: null, createdAt })
  await ctx.db.transaction(async (transaction) => {
    const [, live, signerNow] = await transaction.batch([
      lockAccount(accountId),
      countLiveGrants(accountId, mode, wallet.address, agentId),
      findSigner(accountId, mode, agentId),
    ])
    checkAgentKept(signerNow)
    checkRoom(live)
    const entry = { logId: accountId, createdAt, actor, action: 'grant.opened', details: describeGrant(grant) } as const
    await transaction.commit([insertGrant(grant), insertAuditEntry({ ...entry, subject: grant.id })])
  })
  return grant
}

function checkRoom(live: { total: number; ofAgent: number }): void {
  if (live.ofAgent > 0) throw problem('grant_exists')
  if (live.total >= GRANTS_PER_WALLET_MAX) {
    throw problem('grant_limit_reached', { details: { grants_max: GRANTS_PER_WALLET_MAX } })
  }
}

/** It was deleted since; one that was made anew has no key, and is not the one that was asked for. */
function checkAgentKept(signer: SignerRow | null): void {
  if (signer === null || signer.signerId === null) throw problem('agent_not_found')
}

/** Gives the agent its own key at the enclave (D15a). Of two that are made at once the first is kept; the other is idle. */
async function createSigner(
  ctx: Context,
  { accountId, mode, agentId }: { accountId: string; mode: Mode; agentId: AgentId },
): Promise<void> {
  const { publicKey, privateKey } = ctx.enclave.generateSignerKey()
  const { signerId } = await ctx.enclave.createSigner({ publicKey, name: policyName(agentId) })
  const sealed = ctx.sealer.seal(privateKey, signerSealContext(accountId, mode, agentId))
  const kept = await ctx.db.runDurable(keepSigner(accountId, mode, agentId, signerId, sealed))
  if (kept === null) throw problem('agent_not_found')
}
