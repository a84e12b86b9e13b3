import { Type } from 'typebox'
import { HostSpendSchema } from '../../domain/purchases/host-spend.ts'
import { DepositSchema } from '../../domain/deposits/deposit-schema.ts'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { mode, ModeQuery, SlugParams } from './fields.ts'
import { grantState } from './grants.ts'
import { ListedPaymentSchema } from './payments.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'

const range = Type.Enum(['24h', '7d', '30d'])

const SpendSchema = Type.Object({
  agent_id: orNull(Type.String()),
  total_usdc: Type.String(),
  /** What the agent spent, one amount for each bar of the chart. */
  bars_usdc: list(Type.String()),
})

const CapSchema = Type.Object({
  grant_id: Type.String(),
  agent_id: Type.String(),
  wallet: Type.String(),
  wallet_name: Type.String(),
  state: grantState,
  daily_cap_usdc: Type.String(),
  spent_24h_usdc: Type.String(),
  remaining_24h_usdc: Type.String(),
})

const OverviewSchema = Type.Object({
  range,
  /** When each bar of the chart begins, and how long a bar lasts. */
  bars_at: list(isoTime()),
  bar_seconds: Type.Integer(),
  /** What agents spent in the range: their confirmed and pending payments. */
  spent_usdc: Type.String(),
  /** What owners withdrew in the range: confirmed and pending withdrawals. */
  withdrawn_usdc: Type.String(),
  /** The agents that spent most; then, if there are more agents, one entry with `agent_id: null` for all others. */
  spend: list(SpendSchema),
  /** The number of payment requests with each result. Counts the requests that agents made in the range. */
  counts: Type.Object({
    confirmed: Type.Integer(),
    pending: Type.Integer(),
    failed: Type.Integer(),
    refused: Type.Integer(),
  }),
  /** How much of each active grant's cap was used in the last 24 hours. At most 8 grants, the most used first. */
  caps: list(CapSchema),
  /** At most 5 payments and at most 5 deposits, the newest first. The payments include withdrawals. */
  payments: list(ListedPaymentSchema),
  deposits: list(DepositSchema),
  /** Which steps the workspace has done already, for the checklist of a new workspace. */
  steps: Type.Object({
    wallet: Type.Boolean(),
    deposit: Type.Boolean(),
    agent: Type.Boolean(),
    grant: Type.Boolean(),
    key: Type.Boolean(),
    payment: Type.Boolean(),
  }),
  /** How many purchases of the last 7 days were paid and not delivered, and when these 7 days began. */
  undelivered: Type.Object({ count: Type.Integer(), since: isoTime() }),
})

export type Overview = Shape<typeof OverviewSchema>
export type HostSpend = Shape<typeof HostSpendSchema>
export type Range = Overview['range']

export const OVERVIEW_ROUTES = {
  get: {
    method: 'GET',
    url: '/console/workspaces/:slug/overview',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: Type.Object({ mode, range }),
      response: { 200: Type.Object({ overview: OverviewSchema }) },
    },
  },
  /**
   * Returns what was spent on the hosts that sold something in the last 30 days, and when these 30 days began. The
   * hosts with the highest sums come first; then, if there are more hosts, one entry with `host: null` for all others.
   */
  hosts: {
    method: 'GET',
    url: '/console/workspaces/:slug/overview/hosts',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ since: isoTime(), hosts: list(HostSpendSchema) }) },
    },
  },
  /** A stream of server-sent events. An event says in which lists something has changed, but not what. */
  listenToChanges: {
    method: 'GET',
    url: '/console/workspaces/:slug/changes',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: { params: SlugParams, querystring: ModeQuery },
  },
} as const satisfies ConsoleRoutes
