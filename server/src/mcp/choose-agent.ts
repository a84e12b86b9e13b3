import type { Context } from '../domain/context.ts'
import { getAgent, listAgents } from '../domain/agents/queries.ts'
import { parseAgentId, type AgentId } from '../values/agent-id.ts'
import { invalid } from './check-arguments.ts'
import type { ToolCaller } from './tool.ts'
import { ToolFailure } from './tool-failure.ts'

const AGENTS_NAMED_MAX = 20

/**
 * Returns the agent that a tool acts as: the agent to which the credential is bound, or the one that the arguments
 * name. Throws if the arguments name an agent other than the bound one (D25), or if they name no agent and the
 * credential is not bound.
 */
export async function chooseAgent(
  ctx: Pick<Context, 'db' | 'clock'>,
  caller: ToolCaller,
  named: string | undefined,
): Promise<AgentId> {
  const agentId = parseAgentId(named ?? caller.agentId ?? '')
  if (caller.agentId !== null) {
    if (agentId !== null && agentId === caller.agentId) return agentId
    throw new ToolFailure({
      code: 'agent_not_authorized',
      message: `You are connected as one agent, and can only act as your own agent: ${caller.agentId}.`,
      next: 'Leave agent_id out, so that you act as your own agent.',
    })
  }
  if (named !== undefined) {
    if (agentId !== null) return agentId
    throw invalid([{ path: 'agent_id', message: 'is not a valid agent id' }])
  }
  const agents = await listAgents(ctx, caller)
  const ids = agents.slice(0, AGENTS_NAMED_MAX).map(({ id }) => id)
  throw new ToolFailure({
    code: 'agent_id_required',
    message: 'agent_id is missing. This API key is bound to no agent, so each call must say as which agent it acts.',
    next:
      ids.length === 0
        ? 'Ask the user to create an agent first.'
        : 'Ask the user which agent you are, unless you know it.',
    details: { agent_ids: ids, has_more: agents.length > ids.length },
  })
}

/**
 * Throws 404 `agent_not_found` if there is no such agent. A tool that returns a list calls this before it says that
 * the list is empty: if the id is mistyped, an empty list would make a model believe that it has not paid.
 */
export async function checkAgentExists(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode }: ToolCaller,
  agentId: AgentId,
): Promise<void> {
  await getAgent(ctx, { workspaceId, mode, id: agentId })
}
