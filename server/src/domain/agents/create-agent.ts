import type { AgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import { lockAccount } from '../accounts/accounts-store.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { PLANS } from '../plans/plan.ts'
import type { Agent } from './agent.ts'
import { countAgents, findAgent, insertAgent } from './agents-store.ts'

/**
 * Creates an agent if it is absent, and answers its current state either way. The account's lock makes the plan's cap
 * exact under races (D10); an existing id is a no-op at the cap too. A deleted one is made anew: of what it was only the
 * window of its cap goes on (D16). Over the cap: 400 `agent_cap_reached`.
 */
export async function createAgent(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode, id, actor = OPERATOR }: { accountId: string; mode: Mode; id: AgentId; actor?: Actor },
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
