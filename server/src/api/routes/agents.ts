import { Type } from 'typebox'
import type { Agent } from '../../domain/agents/agent.ts'
import { createAgent } from '../../domain/agents/create-agent.ts'
import { getAgent, listAgents } from '../../domain/agents/queries.ts'
import type { Context } from '../../domain/context.ts'
import { AgentSchema, type PublicAgent } from '../../domain/agents/agent-schema.ts'
import { formatAgent } from '../../domain/agents/format-agent.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { parseAgentId, AGENT_ID_RULE } from '../../values/agent-id.ts'
import type { createAuthenticate, Requirements } from '../authenticate.ts'
import { callerOf, type Caller } from '../caller.ts'
import { CreateAgentBody, PathId } from '../schemas.ts'
import { invalidMember } from '../../values/invalid-request.ts'

export type Authenticate = (requirements: Requirements) => ReturnType<typeof createAuthenticate>

const AgentResponse = Type.Object({ agent: Type.Ref('Agent') }, { description: 'The agent with its current limits.' })

export function addAgentRoutes(http: HttpServer, ctx: Context, authenticate: Authenticate): void {
  http.addSchema(AgentSchema)
  const onRequest = authenticate({ bucket: 'default' })

  http.post(
    '/v1/agents',
    {
      onRequest: authenticate({ bucket: 'default', unrestrictedKeyOnly: true }),
      config: { load: 'database' },
      schema: {
        operationId: 'createAgent',
        summary: 'Create an agent',
        description:
          'If an agent with this id already exists, nothing changes and the response contains this agent. An API key ' +
          'without restrictions is required, because every other credential acts as one agent only, or may do less.',
        tags: ['Agents'],
        body: CreateAgentBody,
        response: { 201: AgentResponse },
        errors: ['agent_cap_reached'],
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const id = parseAgentId(request.body.id)
      if (id === null) throw invalidMember('id', AGENT_ID_RULE)
      const agent = await createAgent(ctx, {
        workspaceId: caller.workspaceId,
        mode: caller.mode,
        id,
        actor: caller.actor,
      })
      return reply.code(201).send({ agent: formatOf(caller, agent) })
    },
  )

  http.get(
    '/v1/agents',
    {
      onRequest,
      config: { load: 'database' },
      schema: {
        operationId: 'listAgents',
        summary: 'List agents',
        description: 'Returns all agents of this workspace and mode, oldest first. The order is stable.',
        tags: ['Agents'],
        response: {
          200: Type.Object({ agents: Type.Array(Type.Ref('Agent')) }, { description: 'All agents.' }),
        },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const agents = await listAgents(ctx, caller)
      return { agents: agents.map((agent) => formatOf(caller, agent)) }
    },
  )

  http.get(
    '/v1/agents/:id',
    {
      onRequest,
      config: { load: 'database' },
      schema: {
        operationId: 'getAgent',
        summary: 'Retrieve one agent',
        description: 'Returns the agent with its wallets, and what it may spend from each of them now.',
        tags: ['Agents'],
        params: PathId,
        response: { 200: AgentResponse },
        errors: ['agent_not_found'],
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { workspaceId, mode } = caller
      const agent = await getAgent(ctx, { workspaceId, mode, id: request.params.id })
      return { agent: formatOf(caller, agent) }
    },
  )
}

function formatOf({ workspaceSlug }: Caller, agent: Agent): PublicAgent {
  return { ...formatAgent(agent), account_slug: workspaceSlug }
}
