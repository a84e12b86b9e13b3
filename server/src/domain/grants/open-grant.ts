import { violatesUnique } from '../../db/errors.ts'
import type { Address } from '../../values/address.ts'
import type { AgentId } from '../../values/agent-id.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'
import { Problem, problem } from '../../values/problem.ts'
import { lockAccount } from '../accounts/store.ts'
import { signerSealContext } from '../agents/signer-seal.ts'
import { findSigner, keepSigner } from '../agents/store.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/store.ts'
import type { Context } from '../context.ts'
import { findWallet } from '../wallets/store.ts'
import { CONTRACTS_MAX, GRANTS_PER_WALLET_MAX, RECIPIENTS_MAX, type Grant, type GrantPolicy } from './grant.ts'
import { policyName } from './policy-name.ts'
import { countLiveGrants, insertGrant, ONE_LIVE_GRANT_INDEX } from './store.ts'

export interface OpenGrantRequest {
  readonly accountId: string
  readonly mode: Mode
  readonly agentId: AgentId
  readonly wallet: Address
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
  readonly recipientAllowlist: readonly Address[]
  /** Default: the chain's USDC (D14). */
  readonly contractAllowlist?: readonly Address[] | undefined
  readonly expiresAt: Date | null
  readonly actor?: Actor
}

/**
 * Opens a pending grant: the policy is laid down at the enclave, owned by the wallet's owner, and binds nobody yet.
 * Errors: 404 `agent_not_found`, `wallet_not_found`; 409 `grant_exists`, `grant_limit_reached`; 400 for a bad policy.
 */
export async function openGrant(ctx: Context, request: OpenGrantRequest): Promise<Grant> {
  const { accountId, mode, agentId, actor = OPERATOR } = request
  const createdAt = ctx.clock.now()
  const policy = checkPolicy(ctx, request, createdAt)
  const [signer, wallet] = await ctx.db.readBoth(
    findSigner(accountId, mode, agentId),
    findWallet(accountId, mode, request.wallet),
  )
  if (signer === null) throw problem('agent_not_found')
  if (wallet === null) throw problem('wallet_not_found')
  checkRoom(await ctx.db.read(countLiveGrants(accountId, mode, wallet.address, agentId)))

  if (signer.signerId === null) await createSigner(ctx, { accountId, mode, agentId })
  const id = createId('grant', createdAt)
  const { policyId } = await ctx.enclave.createPolicy({
    name: policyName(agentId),
    ownerQuorumId: wallet.ownerQuorumId,
    terms: { chainId: ctx.chains[mode].chainId, ...policy },
    idempotencyKey: id,
  })
  const grant: Grant = {
    ...policy,
    id,
    accountId,
    mode,
    agentId,
    walletAddress: wallet.address,
    status: 'pending',
    enclavePolicyId: policyId,
    signingRequest: null,
    createdAt,
    activatedAt: null,
    suspendedAt: null,
    revokedAt: null,
  }
  try {
    await ctx.db.transaction(async (transaction) => {
      const [, live] = await transaction.batch([
        lockAccount(accountId),
        countLiveGrants(accountId, mode, wallet.address, agentId),
      ])
      checkRoom(live)
      const details = { mode, agent_id: agentId, wallet: wallet.address }
      const entry = { logId: accountId, createdAt, actor, action: 'grant.opened', details } as const
      await transaction.commit([insertGrant(grant), insertAuditEntry({ ...entry, subject: id })])
    })
  } catch (error) {
    if (violatesUnique(error, ONE_LIVE_GRANT_INDEX)) throw problem('grant_exists')
    throw error
  }
  return grant
}

function checkPolicy(ctx: Context, request: OpenGrantRequest, now: Date): GrantPolicy {
  const { maxPerTxMicro, dailyCapMicro, recipientAllowlist, expiresAt } = request
  const contractAllowlist = request.contractAllowlist ?? [ctx.chains[request.mode].usdc]
  if (recipientAllowlist.length > RECIPIENTS_MAX) {
    throw new Problem('validation_failed', `recipient_allowlist holds at most ${RECIPIENTS_MAX} addresses.`)
  }
  if (contractAllowlist.length < 1 || contractAllowlist.length > CONTRACTS_MAX) {
    throw new Problem('validation_failed', `contract_allowlist holds 1 to ${CONTRACTS_MAX} addresses.`)
  }
  if (expiresAt !== null && expiresAt <= now) {
    throw new Problem('validation_failed', 'expires_at must lie in the future.')
  }
  return {
    maxPerTxMicro,
    dailyCapMicro,
    recipientAllowlist: [...new Set(recipientAllowlist)],
    contractAllowlist: [...new Set(contractAllowlist)],
    expiresAt,
  }
}

function checkRoom(live: { total: number; ofAgent: number }): void {
  if (live.ofAgent > 0) throw problem('grant_exists')
  if (live.total >= GRANTS_PER_WALLET_MAX) {
    throw problem('grant_limit_reached', { details: { grants_max: GRANTS_PER_WALLET_MAX } })
  }
}

/** Gives the agent its own key at the enclave (D15a). Of two that are made at once the first is kept; the other is idle. */
async function createSigner(
  ctx: Context,
  { accountId, mode, agentId }: { accountId: string; mode: Mode; agentId: AgentId },
): Promise<void> {
  const { publicKey, privateKey } = ctx.enclave.generateSignerKey()
  const { signerId } = await ctx.enclave.createSigner({ publicKey, name: policyName(agentId) })
  const sealed = ctx.sealer.seal(privateKey, signerSealContext(accountId, mode, agentId))
  await ctx.db.write(keepSigner(accountId, mode, agentId, signerId, sealed))
}
