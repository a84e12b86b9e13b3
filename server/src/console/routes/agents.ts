import { createAgent } from '../../domain/agents/create-agent.ts'
import { getAgent, listAgents } from '../../domain/agents/queries.ts'
import { labelAgent } from '../../domain/agents/label-agent.ts'
import { deleteAgent } from '../../domain/agents/delete-agent.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { type Agent, AGENT_ROUTES } from '../contract/agents.ts'
import { currentMembership, memberOf } from '../current-membership.ts'
import { actorOf } from '../current-session.ts'
import { parseNewAgentId } from '../parse-body.ts'
import type { Agent as DomainAgent } from '../../domain/agents/agent.ts'
import { formatAgent } from '../../domain/agents/format-agent.ts'

export function addConsoleAgentRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...AGENT_ROUTES.list,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const agents = await listAgents(ctx, { workspaceId: workspace.id, mode: request.query.mode })
      return { agents: agents.map(formatAgentDetail) }
    },
  })

  http.route({
    ...AGENT_ROUTES.create,
    handler: async (request, reply) => {
      const { workspace } = currentMembership(request)
      const { mode, id } = request.body
      const agent = await createAgent(ctx, {
        workspaceId: workspace.id,
        mode,
        id: parseNewAgentId(id),
        actor: actorOf(request),
      })
      return reply.code(201).send({ agent: formatAgentDetail(agent) })
    },
  })

  http.route({
    ...AGENT_ROUTES.get,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { mode } = request.query
      return {
        agent: formatAgentDetail(await getAgent(ctx, { workspaceId: workspace.id, mode, id: request.params.id })),
      }
    },
  })

  http.route({
    ...AGENT_ROUTES.label,
    handler: async (request) => {
      const { workspaceId, actor } = memberOf(request)
      const { mode, label } = request.body
      await labelAgent(ctx, { workspaceId, mode, id: request.params.id, label, actor })
      return {}
    },
  })

  http.route({
    ...AGENT_ROUTES.delete,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      await deleteAgent(ctx, {
        workspaceId: workspace.id,
        mode: request.query.mode,
        id: request.params.id,
        actor: actorOf(request),
      })
      return {}
    },
  })
}

/** Formats an agent as the dashboard shows it: the same fields as in `/v1`, its state and its label. */
function formatAgentDetail(agent: DomainAgent): Agent {
  return { ...formatAgent(agent), state: agent.state, label: agent.label }
}
