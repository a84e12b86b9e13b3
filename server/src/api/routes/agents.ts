import { Type } from 'typebox'
import type { Agent } from '../../domain/agents/agent.ts'
import { createAgent } from '../../domain/agents/create-agent.ts'
import { getAgent } from '../../domain/agents/get-agent.ts'
import { listAgents } from '../../domain/agents/list-agents.ts'
import type { Context } from '../../domain/context.ts'
import { remainingMicro } from '../../domain/grants/policy.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { parseAgentId } from '../../values/agent-id.ts'
import { formatAmount } from '../../values/money.ts'
import type { createAuthenticate, Requirements } from '../authenticate.ts'
import { callerOf } from '../caller.ts'
import { invalidAgentId } from '../parse-payment.ts'
import { AgentSchema, CreateAgentBody, errorResponses, IdParams } from '../schemas.ts'

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
      return reply.code(201).send({ agent: formatAgent(agent, caller.accountSlug) })
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
      return { agents: agents.map((agent) => formatAgent(agent, caller.accountSlug)) }
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
      return { agent: formatAgent(agent, caller.accountSlug) }
    },
  )
}

/** An agent as the world sees it (specification, part 2; D8, D9). */
function formatAgent(agent: Agent, accountSlug: string) {
  return {
    id: agent.id,
    status: agent.activeSigners > 0 ? 'active' : 'no_permissions',
    mode: agent.mode,
    created_at: agent.createdAt.toISOString(),
    active_signers: agent.activeSigners,
    pending_signers: agent.pendingSigners,
    account_slug: accountSlug,
    wallets: agent.wallets.map((wallet) => ({
      address: wallet.address,
      max_per_tx_usdc: formatAmount(wallet.maxPerTxMicro),
      daily_cap_usdc: formatAmount(wallet.dailyCapMicro),
      spent_24h_usdc: formatAmount(wallet.spent24hMicro),
      remaining_24h_usdc: formatAmount(remainingMicro(wallet.dailyCapMicro, wallet.spent24hMicro)),
      expires_at: wallet.expiresAt?.toISOString() ?? null,
    })),
  }
}
