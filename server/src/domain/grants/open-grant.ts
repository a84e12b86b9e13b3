import type { Address } from '../../values/address.ts'
import type { AgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import { lockAccount } from '../accounts/accounts-store.ts'
import { signerSealContext } from '../agents/signer-seal-context.ts'
import { findSigner, saveSigner, type SignerRow } from '../agents/agents-store.ts'
import type { Actor } from '../audit/audit-entry.ts'
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
  readonly actor: Actor
}

/**
 * Opens a pending grant. Its policy is created at the enclave, owned by the wallet's owner, but has no effect until the
 * owner signs.
 *
 * Errors: 404 `agent_not_found`, `wallet_not_found`; 409 `grant_exists`, `grant_limit_reached`; 400 for terms that are
 * not allowed.
 */
export async function openGrant(ctx: Context, request: OpenGrantRequest): Promise<Grant> {
  const { accountId, mode, agentId, actor } = request
  const createdAt = ctx.clock.now()
  const policy = checkPolicy(request, { defaultContracts: [ctx.chains[mode].usdc], now: createdAt })
  const [signer, wallet] = await ctx.db.runRelaxedPair(
    findSigner(accountId, mode, agentId),
    findWallet(accountId, mode, request.wallet),
  )
  if (signer === null) throw problem('agent_not_found')
  if (wallet === null) throw problem('wallet_not_found')
  checkGrantLimits(await ctx.db.runRelaxed(countLiveGrants(accountId, mode, wallet.address, agentId)))

  if (signer.signerId === null) await createSigner(ctx, { accountId, mode, agentId })
  const grant = await createEnclavePolicy(ctx, { wallet, agentId, policy, replaces: null, createdAt })
  await ctx.db.transaction(async (transaction) => {
    const [, live, signerNow] = await transaction.batch([
      lockAccount(accountId),
      countLiveGrants(accountId, mode, wallet.address, agentId),
      findSigner(accountId, mode, agentId),
    ])
    checkAgentRemains(signerNow)
    checkGrantLimits(live)
    const entry = { logId: accountId, createdAt, actor, action: 'grant.opened', details: describeGrant(grant) } as const
    await transaction.commit([insertGrant(grant), insertAuditEntry({ ...entry, subject: grant.id })])
  })
  return grant
}

function checkGrantLimits(live: { total: number; ofAgent: number }): void {
  if (live.ofAgent > 0) throw problem('grant_exists')
  if (live.total >= GRANTS_PER_WALLET_MAX) {
    throw problem('grant_limit_reached', { details: { grants_max: GRANTS_PER_WALLET_MAX } })
  }
}

/**
 * Throws 404 `agent_not_found` if the agent was deleted meanwhile. One that was created again with the same id has no
 * signer, so it counts as deleted too.
 */
function checkAgentRemains(signer: SignerRow | null): void {
  if (signer === null || signer.signerId === null) throw problem('agent_not_found')
}

/**
 * Creates the agent's signing key at the enclave (D15a). If two requests create one at once, the first is stored and
 * the other is never used.
 */
async function createSigner(
  ctx: Context,
  { accountId, mode, agentId }: { accountId: string; mode: Mode; agentId: AgentId },
): Promise<void> {
  const { publicKey, privateKey } = ctx.enclave.generateSignerKey()
  const { signerId } = await ctx.enclave.createSigner({ publicKey, name: policyName(agentId) })
  const sealed = ctx.sealer.seal(privateKey, signerSealContext(accountId, mode, agentId))
  const kept = await ctx.db.runDurable(saveSigner(accountId, mode, agentId, signerId, sealed))
  if (kept === null) throw problem('agent_not_found')
}
