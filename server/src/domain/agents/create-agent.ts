import type { Transaction } from '../../db/transaction.ts'
import type { AgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { PLANS } from '../plans/plan.ts'
import type { Agent } from './agent.ts'
import { countAgents, findAgent, insertAgent } from './agents-store.ts'

/**
 * Creates the agent unless it exists, and returns the agent in both cases. The plan's limit is exact even if agents are
 * created concurrently, because the workspace is locked (D10). An existing agent is returned even if the limit is
 * reached.
 *
 * A deleted agent can be created again. The payments that it made in the last 24 hours still count against the 24-hour
 * limit (D16).
 *
 * Errors: 400 `agent_cap_reached` if the plan's limit is reached.
 */
export async function createAgent(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode, id, actor }: { workspaceId: string; mode: Mode; id: AgentId; actor: Actor },
): Promise<Agent> {
  const now = ctx.clock.now()
  const create = async (transaction: Transaction): Promise<Agent> => {
    const [workspace, existing, count] = await transaction.batch([
      lockWorkspace(workspaceId),
      findAgent(workspaceId, mode, id, now),
      countAgents(workspaceId, mode),
    ])
    if (existing !== null) return existing
    const agentsMax = workspace === null ? 0 : PLANS[workspace.plan].agentsMax
    if (agentsMax !== null && count >= agentsMax) {
      throw problem('agent_cap_reached', { details: { agents_max: agentsMax } })
    }
    const entry = { logId: workspaceId, createdAt: now, actor, action: 'agent.created', details: { mode } } as const
    await transaction.commit([insertAgent(workspaceId, mode, id, now), insertAuditEntry({ ...entry, subject: id })])
    return {
      id,
      mode,
      createdAt: now,
      label: null,
      state: 'no_grant',
      activeSigners: 0,
      pendingSigners: 0,
      wallets: [],
    }
  }
  return await ctx.db.transaction(create, { group: workspaceId })
}
