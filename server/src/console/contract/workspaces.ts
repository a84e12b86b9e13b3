import { Type } from 'typebox'
import { PLAN_NAMES } from '../../domain/plans/plan.ts'
import { isoTime, orNull } from '../../values/schema-fields.ts'
import { name, NameBody, role, SlugParams } from './fields.ts'
import { ONLY_A_NAME, READS, type ConsoleRoutes, type Shape } from './route.ts'

/** A workspace, with the caller's role in it. */
export const WorkspaceSchema = Type.Object({ slug: Type.String(), name: Type.String(), role })

const plan = Type.Enum([...PLAN_NAMES])

const ChainInfoSchema = Type.Object({
  chain_id: Type.Integer(),
  /** The USDC contract. */
  usdc: Type.String(),
  /** The origin of a block explorer, such as `https://basescan.org`; null for a chain without one. */
  explorer_url: orNull(Type.String()),
  /**
   * How people get test USDC: through our own endpoint, or on somebody else's site. Null in live mode, and if no
   * faucet is configured.
   */
  faucet: Type.Union([
    Type.Object({ kind: Type.Literal('endpoint') }),
    Type.Object({ kind: Type.Literal('site'), url: Type.String() }),
    Type.Null(),
  ]),
})

const WorkspaceDetailSchema = Type.Object({
  ...WorkspaceSchema.properties,
  plan,
  /** The origin of the REST API. */
  base_url: Type.String(),
  chains: Type.Object({ test: ChainInfoSchema, live: ChainInfoSchema }),
})

/** How much of a limit is used. `limit` is null if there is no limit. */
const UseSchema = Type.Object({ used: Type.Integer(), limit: orNull(Type.Integer()) })
const UseByModeSchema = Type.Object({ test: UseSchema, live: UseSchema })

const PlanUseSchema = Type.Object({
  plan,
  /** How many live payments the enclave has accepted in this calendar month (UTC). */
  allowance: Type.Object({ ...UseSchema.properties, resets_at: isoTime() }),
  agents: UseByModeSchema,
  wallets: UseByModeSchema,
  /** In bytes: the responses of sellers that are kept, with the room that purchases in progress may need (D93). */
  responses: UseByModeSchema,
  /** In bytes: the responses of webhook receivers. If there is no room, the oldest go. */
  webhook_responses: UseByModeSchema,
  /** In bytes: the rejected requests. If there is no room, the oldest go. */
  refusals: UseByModeSchema,
})

export type Workspace = Shape<typeof WorkspaceSchema>
export type WorkspaceDetail = Shape<typeof WorkspaceDetailSchema>
export type ChainInfo = Shape<typeof ChainInfoSchema>
export type PlanUse = Shape<typeof PlanUseSchema>
export type Use = Shape<typeof UseSchema>

export const WORKSPACE_ROUTES = {
  create: {
    method: 'POST',
    url: '/console/workspaces',
    config: { needs: 'session', proof: { notNeeded: 'creates an empty workspace' }, bucket: 'dashboard' },
    schema: { body: Type.Object({ name }), response: { 201: Type.Object({ workspace: WorkspaceSchema }) } },
  },
  get: {
    method: 'GET',
    url: '/console/workspaces/:slug',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugParams, response: { 200: Type.Object({ workspace: WorkspaceDetailSchema }) } },
  },
  rename: {
    method: 'PATCH',
    url: '/console/workspaces/:slug',
    config: { needs: 'manageWorkspace', proof: ONLY_A_NAME, bucket: 'dashboard' },
    schema: { params: SlugParams, body: NameBody, response: { 200: Type.Object({ workspace: WorkspaceSchema }) } },
  },
  getPlanUse: {
    method: 'GET',
    url: '/console/workspaces/:slug/plan',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugParams, response: { 200: Type.Object({ use: PlanUseSchema }) } },
  },
} as const satisfies ConsoleRoutes
