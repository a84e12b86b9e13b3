import { parseAgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { Agent, SpendableGrant } from './agent.ts'
import { findAgent, listAgentRows, listSpendableGrants } from './agents-store.ts'

/**
 * Returns an agent of the workspace and mode, or throws 404 `agent_not_found`. An invalid id is rejected without a
 * query.
 */
export async function getAgent(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode, id }: { accountId: string; mode: Mode; id: string },
): Promise<Agent> {
  const agentId = parseAgentId(id)
  const agent = agentId === null ? null : await ctx.db.runRelaxed(findAgent(accountId, mode, agentId, ctx.clock.now()))
  if (agent === null) throw problem('agent_not_found')
  return agent
}

/**
 * Lists all agents of the workspace and mode, oldest first, in the same order on every call. The plan limits their
 * number.
 */
export async function listAgents(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode }: { accountId: string; mode: Mode },
): Promise<Agent[]> {
  return await ctx.db.runSlow(listAgentRows(accountId, mode, ctx.clock.now()), accountId)
}

/** Lists all grants of the workspace and mode under which an agent can currently spend. */
export async function listSpendable(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode }: { accountId: string; mode: Mode },
): Promise<SpendableGrant[]> {
  return await ctx.db.runRelaxed(listSpendableGrants(accountId, mode, ctx.clock.now()))
}
