import { parseAgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { Agent, SpendableGrant } from './agent.ts'
import { findAgent, listAgentRows, listSpendableGrants } from './agents-store.ts'

/**
 * Returns an agent of the (account, mode), or throws 404 `agent_not_found`. A text that cannot be an id is not looked
 * up.
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
 * Lists all agents of the (account, mode), oldest first, in the same order on every call. The plan limits their number.
 */
export async function listAgents(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode }: { accountId: string; mode: Mode },
): Promise<Agent[]> {
  return await ctx.db.runSlow(listAgentRows(accountId, mode, ctx.clock.now()))
}

/** Lists all grants of the (account, mode) that can be spent from now. */
export async function listSpendable(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode }: { accountId: string; mode: Mode },
): Promise<SpendableGrant[]> {
  return await ctx.db.runRelaxed(listSpendableGrants(accountId, mode, ctx.clock.now()))
}
