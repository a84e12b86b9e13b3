import { Type } from 'typebox'
import { AgentSchema as PublicAgentSchema } from '../../domain/grants/agent-schema.ts'
import { list } from '../../values/schema-fields.ts'
import { agentId, Empty, mode, ModeQuery, SlugIdParams, SlugParams } from './fields.ts'
import { ENDS_POWER, READS, type ConsoleRoutes, type Shape } from './route.ts'

/** The agent of `/v1`. The path already names the workspace. */
const { account_slug: _, ...agent } = PublicAgentSchema.properties
const AgentSchema = Type.Object(agent)

export type Agent = Shape<typeof AgentSchema>
export type AgentWallet = Agent['wallets'][number]

export const AGENT_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/agents',
    config: { role: 'viewer', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ agents: list(AgentSchema) }) },
    },
  },
  /** Returns the existing agent if there is one with this id. */
  create: {
    method: 'POST',
    url: '/console/workspaces/:slug/agents',
    config: { role: 'admin', proof: { notNeeded: 'has no effect without a grant' }, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      body: Type.Object({ mode, id: agentId }),
      response: { 201: Type.Object({ agent: AgentSchema }) },
    },
  },
  get: {
    method: 'GET',
    url: '/console/workspaces/:slug/agents/:id',
    config: { role: 'viewer', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugIdParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ agent: AgentSchema }) },
    },
  },
  delete: {
    method: 'DELETE',
    url: '/console/workspaces/:slug/agents/:id',
    config: { role: 'admin', proof: ENDS_POWER, bucket: 'dashboard' },
    schema: { params: SlugIdParams, querystring: ModeQuery, response: { 200: Empty } },
  },
} as const satisfies ConsoleRoutes
