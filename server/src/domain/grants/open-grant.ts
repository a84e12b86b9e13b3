import type { Address } from '../../values/address.ts'
import type { AgentId } from '../../values/agent-id.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { countUsableSlots } from '../wallets/slots-store.ts'
import { findWallet } from '../wallets/wallets-store.ts'
import { describeGrant } from './record-status-change.ts'
import { checkPolicy, type GrantTerms } from './check-policy.ts'
import type { Grant, GrantPolicy } from './grant.ts'
import { countLiveGrants, findAgentCreation, findFreeSlot, insertGrant } from './grants-store.ts'

export interface OpenGrantRequest extends GrantTerms {
  readonly workspaceId: string
  readonly mode: Mode
  readonly agentId: AgentId
  readonly wallet: Address
  readonly actor: Actor
}

/**
 * Opens a pending grant in a free slot of the wallet. It has no effect until the owner signs its rules.
 *
 * Errors: 404 `agent_not_found`, `wallet_not_found`; 409 `grant_exists`, `grant_limit_reached`; 400 for terms that are not allowed.
 */
export async function openGrant(
  ctx: Pick<Context, 'db' | 'clock' | 'chains'>,
  request: OpenGrantRequest,
): Promise<Grant> {
  const { workspaceId, mode, agentId, wallet: address, actor } = request
  const createdAt = ctx.clock.now()
  const { usdc } = ctx.chains[mode]
  const policy = checkPolicy(request, { usdc, defaultContracts: [usdc], now: createdAt })
  const agentCreatedAt = await ctx.db.read(findAgentCreation(workspaceId, mode, agentId))
  if (agentCreatedAt === null) throw problem('agent_not_found')
  return await ctx.db.transaction(async (transaction) => {
    const [, stillCreatedAt, wallet, ofAgent, slot] = await transaction.batch([
      lockWorkspace(workspaceId),
      findAgentCreation(workspaceId, mode, agentId),
      findWallet(workspaceId, mode, address),
      countLiveGrants(workspaceId, mode, address, agentId),
      findFreeSlot(workspaceId, mode, address),
    ])
    // An agent that was deleted while we waited for the lock, and created again with the same id, is a different agent.
    if (stillCreatedAt?.getTime() !== agentCreatedAt.getTime()) throw problem('agent_not_found')
    if (wallet === null) throw problem('wallet_not_found')
    if (ofAgent > 0) throw problem('grant_exists')
    if (slot === null) {
      const grantsMax = await transaction.run(countUsableSlots(wallet))
      throw problem('grant_limit_reached', { details: { grants_max: grantsMax } })
    }
    const grant = makePending({ policy, workspaceId, mode, agentId, walletAddress: address, slot, createdAt, actor })
    const entry = {
      logId: workspaceId,
      createdAt,
      actor,
      action: 'grant.opened',
      details: describeGrant(grant),
    } as const
    await transaction.commit([insertGrant(grant), insertAuditEntry({ ...entry, subject: grant.id })])
    return grant
  })
}

/** Makes a grant that waits for the signature of the wallet's owner. */
export function makePending({
  policy,
  replaces = null,
  createdAt,
  actor,
  ...place
}: Pick<Grant, 'workspaceId' | 'mode' | 'agentId' | 'walletAddress' | 'slot' | 'createdAt'> & {
  policy: GrantPolicy
  replaces?: string | null
  actor: Actor
}): Grant {
  return {
    ...policy,
    ...place,
    id: createId('grant', createdAt),
    status: 'pending',
    signingRequest: null,
    createdAt,
    activatedAt: null,
    suspendedAt: null,
    revokedAt: null,
    replaces,
    replacedBy: null,
    activatedBy: null,
    createdBy: actor.kind === 'user' ? actor.id : null,
  }
}
