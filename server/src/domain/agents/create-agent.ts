import type { AgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import { lockAccount } from '../accounts/accounts-store.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { PLANS } from '../plans/plan.ts'
import type { Agent } from './agent.ts'
import { countAgents, findAgent, insertAgent } from './agents-store.ts'

/**
 * Creates the agent if it does not exist, and returns its current state either way. The account's lock makes the plan's
 * limit exact when agents are created concurrently (D10). An existing id is returned even at the limit. A deleted agent
 * can be created again; only the 24-hour window of its spending is kept from before (D16).
 *
 * Errors: 400 `agent_cap_reached` over the plan's limit.
 */
export async function createAgent(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode, id, actor }: { accountId: string; mode: Mode; id: AgentId; actor: Actor },
): Promise<Agent> {
  const now = ctx.clock.now()
  return await ctx.db.transaction(async (transaction) => {
    const [account, existing, count] = await transaction.batch([
      lockAccount(accountId),
      findAgent(accountId, mode, id, now),
      countAgents(accountId, mode),
    ])
    if (existing !== null) return existing
    const agentsMax = account === null ? 0 : PLANS[account.plan].agentsMax
    if (agentsMax !== null && count >= agentsMax) {
      throw problem('agent_cap_reached', { details: { agents_max: agentsMax } })
    }
    const entry = { logId: accountId, createdAt: now, actor, action: 'agent.created', details: { mode } } as const
    await transaction.commit([insertAgent(accountId, mode, id, now), insertAuditEntry({ ...entry, subject: id })])
    return { id, mode, createdAt: now, activeSigners: 0, pendingSigners: 0, wallets: [] }
  })
}
