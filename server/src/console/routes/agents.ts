import type { Agent } from '../../domain/agents/agent.ts'
import { createAgent } from '../../domain/agents/create-agent.ts'
import { getAgent, listAgents } from '../../domain/agents/queries.ts'
import { deleteAgent } from '../../domain/grants/delete-agent.ts'
import { remainingMicro } from '../../domain/grants/policy.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { formatAmount } from '../../values/money.ts'
import { membershipOf, type Door } from '../door.ts'
import { parseNewAgentId } from '../parse-body.ts'
import { AgentBody, ModeQuery, SlugIdParams, SlugParams } from '../schemas.ts'

export function addAgentRoutes(http: HttpServer, door: Door): void {
  http.get(
    '/console/workspaces/:slug/agents',
    { schema: { params: SlugParams, querystring: ModeQuery } },
    async (request) => {
      const { account } = await membershipOf(door, request, 'viewer')
      const agents = await listAgents(door.ctx, { accountId: account.id, mode: request.query.mode })
      return { agents: agents.map(formatAgent) }
    },
  )

  http.post(
    '/console/workspaces/:slug/agents',
    { schema: { params: SlugParams, body: AgentBody } },
    async (request, reply) => {
      const { account, userId } = await membershipOf(door, request, 'admin')
      const { mode, id } = request.body
      const agent = await createAgent(door.ctx, {
        accountId: account.id,
        mode,
        id: parseNewAgentId(id),
        actor: { kind: 'user', id: userId },
      })
      return reply.code(201).send({ agent: formatAgent(agent) })
    },
  )

  http.get(
    '/console/workspaces/:slug/agents/:id',
    { schema: { params: SlugIdParams, querystring: ModeQuery } },
    async (request) => {
      const { account } = await membershipOf(door, request, 'viewer')
      const { mode } = request.query
      return { agent: formatAgent(await getAgent(door.ctx, { accountId: account.id, mode, id: request.params.id })) }
    },
  )

  http.delete(
    '/console/workspaces/:slug/agents/:id',
    { schema: { params: SlugIdParams, querystring: ModeQuery } },
    async (request) => {
      const { account, userId } = await membershipOf(door, request, 'admin')
      await deleteAgent(door.ctx, {
        accountId: account.id,
        mode: request.query.mode,
        id: request.params.id,
        actor: { kind: 'user', id: userId },
      })
      return {}
    },
  )
}

/** An agent and what it may spend today. */
function formatAgent(agent: Agent) {
  return {
    id: agent.id,
    mode: agent.mode,
    status: agent.activeSigners > 0 ? 'active' : 'no_permissions',
    created_at: agent.createdAt.toISOString(),
    active_signers: agent.activeSigners,
    pending_signers: agent.pendingSigners,
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
