import { Type } from 'typebox'
import type { Agent } from '../../domain/agents/agent.ts'
import { createAgent } from '../../domain/agents/create-agent.ts'
import { getAgent } from '../../domain/agents/get-agent.ts'
import { listAgents } from '../../domain/agents/list-agents.ts'
import type { Context } from '../../domain/context.ts'
import { AgentSchema, type PublicAgent } from '../../domain/grants/agent-schema.ts'
import { formatAgent } from '../../domain/grants/format-agent.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { parseAgentId } from '../../values/agent-id.ts'
import type { createAuthenticate, Needs } from '../authenticate.ts'
import { callerOf, type Caller } from '../caller.ts'
import { invalidAgentId } from '../parse-payment.ts'
import { CreateAgentBody, errorResponses, IdParams } from '../schemas.ts'

export type Authenticate = (needs: Needs) => ReturnType<typeof createAuthenticate>

const AgentAnswer = Type.Object({ agent: Type.Ref('Agent') }, { description: 'The agent as it stands.' })

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
          'Idempotent: an existing id is a no-op, and the answer shows the current state. Needs an API key: a connection is ' +
          'for one agent, which the person who consented has chosen.',
        tags: ['Agents'],
        body: CreateAgentBody,
        response: { 201: AgentAnswer, ...errorResponses(400, 401, 403, 413, 415, 429, 500, 503) },
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
        description: 'Every agent of this (account, mode), by created_at ascending, stable across calls.',
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
        response: { 200: AgentAnswer, ...errorResponses(401, 404, 429, 500, 503) },
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
