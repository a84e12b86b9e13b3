import { Type } from 'typebox'
import type { Agent } from '../../domain/agents/agent.ts'
import { createAgent } from '../../domain/agents/create-agent.ts'
import { getAgent, listAgents } from '../../domain/agents/queries.ts'
import type { Context } from '../../domain/context.ts'
import { AgentSchema, type PublicAgent } from '../../domain/grants/agent-schema.ts'
import { formatAgent } from '../../domain/grants/format-agent.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { parseAgentId } from '../../values/agent-id.ts'
import type { createAuthenticate, Requirements } from '../authenticate.ts'
import { callerOf, type Caller } from '../caller.ts'
import { invalidAgentId } from '../parse-payment.ts'
import { CreateAgentBody, errorResponses, IdParams } from '../schemas.ts'

export type Authenticate = (requirements: Requirements) => ReturnType<typeof createAuthenticate>

const AgentResponse = Type.Object({ agent: Type.Ref('Agent') }, { description: 'The agent in its current state.' })

export function addAgentRoutes(http: HttpServer, ctx: Context, authenticate: Authenticate): void {
  http.addSchema(AgentSchema)
  const onRequest = authenticate({ bucket: 'default' })

  http.post(
    '/v1/agents',
    {
      onRequest: authenticate({ bucket: 'default', apiKeyOnly: true }),
      schema: {
        operationId: 'createAgent',
        summary: 'Create an agent if absent',
        description:
          'Idempotent: if the id exists, nothing changes and the response shows the agent. Requires an API key, because a ' +
          'connection belongs to one agent, which the person chose at consent.',
        tags: ['Agents'],
        body: CreateAgentBody,
        response: { 201: AgentResponse, ...errorResponses(400, 401, 403, 413, 415, 429, 500, 503) },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const id = parseAgentId(request.body.id)
      if (id === null) throw invalidAgentId('id')
      const agent = await createAgent(ctx, { accountId: caller.accountId, mode: caller.mode, id, actor: caller.actor })
      return reply.code(201).send({ agent: formatOf(caller, agent) })
    },
  )

  http.get(
    '/v1/agents',
    {
      onRequest,
      schema: {
        operationId: 'listAgents',
        summary: 'List agents',
        description: 'Every agent of this account and mode, oldest first. The order is stable.',
        tags: ['Agents'],
        response: {
          200: Type.Object({ agents: Type.Array(Type.Ref('Agent')) }, { description: 'Every agent.' }),
          ...errorResponses(401, 429, 500, 503),
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
      schema: {
        operationId: 'getAgent',
        summary: 'Retrieve one agent',
        tags: ['Agents'],
        params: IdParams,
        response: { 200: AgentResponse, ...errorResponses(401, 404, 429, 500, 503) },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { accountId, mode } = caller
      const agent = await getAgent(ctx, { accountId, mode, id: request.params.id })
      return { agent: formatOf(caller, agent) }
    },
  )
}

function formatOf({ accountSlug }: Caller, agent: Agent): PublicAgent {
  return { ...formatAgent(agent), account_slug: accountSlug }
}
