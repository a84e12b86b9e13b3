import { parseAgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { Agent } from './agent.ts'
import { findAgent } from './agents-store.ts'

/** One agent of (account, mode), or 404. A text that can't be an id is not looked up. */
export async function getAgent(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode, id }: { accountId: string; mode: Mode; id: string },
): Promise<Agent> {
  const agentId = parseAgentId(id)
  const agent = agentId === null ? null : await ctx.db.runRelaxed(findAgent(accountId, mode, agentId, ctx.clock.now()))
  if (agent === null) throw problem('agent_not_found')
  return agent
}
