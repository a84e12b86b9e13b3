import { Type } from 'typebox'
import { AGENT_STATES } from '../../domain/agents/agent-state.ts'
import { AgentSchema as PublicAgentSchema } from '../../domain/agents/agent-schema.ts'
import { list, orNull } from '../../values/schema-fields.ts'
import { agentId, Empty, mode, ModeQuery, name, SlugIdParams, SlugParams } from './fields.ts'
import { ENDS_POWER, ONLY_A_NAME, READS, type ConsoleRoutes, type Shape } from './route.ts'

const { account_slug: _, ...agent } = PublicAgentSchema.properties
/**
 * The same fields as an agent in `/v1`, except for the workspace, which the path already names. `state` says whether
 * the agent can pay now, and if not, why. Unlike `status`, it is not `active` if all grants are suspended or expired.
 */
const AgentSchema = Type.Object({
  ...agent,
  state: Type.Enum([...AGENT_STATES]),
  /** What people call the agent, beside its id. */
  label: orNull(Type.String()),
})

export type Agent = Shape<typeof AgentSchema>
export type AgentState = Agent['state']

export const AGENT_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/agents',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ agents: list(AgentSchema) }) },
    },
  },
  /** Creates an agent. If there is already an agent with this id, returns that agent. */
  create: {
    method: 'POST',
    url: '/console/workspaces/:slug/agents',
    config: { needs: 'manageAgents', proof: { notNeeded: 'has no effect without a grant' }, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      body: Type.Object({ mode, id: agentId }),
      response: { 201: Type.Object({ agent: AgentSchema }) },
    },
  },
  get: {
    method: 'GET',
    url: '/console/workspaces/:slug/agents/:id',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugIdParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ agent: AgentSchema }) },
    },
  },
  /** Gives the agent a label, or takes it away if `label` is null. */
  label: {
    method: 'PATCH',
    url: '/console/workspaces/:slug/agents/:id',
    config: { needs: 'manageAgents', proof: ONLY_A_NAME, bucket: 'dashboard' },
    schema: { params: SlugIdParams, body: Type.Object({ mode, label: orNull(name) }), response: { 200: Empty } },
  },
  delete: {
    method: 'DELETE',
    url: '/console/workspaces/:slug/agents/:id',
    config: { needs: 'manageAgents', proof: ENDS_POWER, bucket: 'dashboard' },
    schema: { params: SlugIdParams, querystring: ModeQuery, response: { 200: Empty } },
  },
} as const satisfies ConsoleRoutes
