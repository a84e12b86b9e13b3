import { Type } from 'typebox'
import { DepositSchema } from '../../domain/deposits/deposit-schema.ts'
import { CONDITION_NAMES } from '../../domain/reports/conditions/conditions.ts'
import { PERIODS } from '../../domain/reports/spending/period.ts'
import { SPENDING_BY } from '../../domain/reports/spending/spending.ts'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { mode, ModeQuery, SlugParams } from './fields.ts'
import { grantState } from './grants.ts'
import { agent, ListedPaymentSchema } from './payments.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'

const ZONE_CHARS_MAX = 64
const DAY_CHARS = 10

const period = Type.Enum([...PERIODS])
const by = Type.Enum([...SPENDING_BY])
const day = Type.Optional(Type.String({ maxLength: DAY_CHARS }))

/** Something for which a condition holds, such as a wallet, and the page where a person deals with it. */
const ConditionItemSchema = Type.Object({
  name: Type.String(),
  text: Type.String(),
  at: orNull(isoTime()),
  /** The parts of the page's path, and its query. */
  page: list(Type.String()),
  filter: Type.Record(Type.String(), Type.String()),
})

const MetConditionSchema = Type.Object({
  name: Type.Enum([...CONDITION_NAMES]),
  severity: Type.Enum(['problem', 'warning', 'task']),
  title: Type.String(),
  advice: Type.String(),
  items: list(ConditionItemSchema),
  /** How many more there are, and the page that lists all. */
  more: Type.Integer(),
  all: list(Type.String()),
})

const FundsSchema = Type.Object({
  address: Type.String(),
  name: Type.String(),
  /** The balance that was last read from the chain, and when. Null if it has not been read yet. */
  balance_usdc: orNull(Type.String()),
  read_at: orNull(isoTime()),
  /** The balance without the payments that it does not include yet. */
  available_usdc: orNull(Type.String()),
  /** What is left of the 24-hour limits of the wallet's grants. */
  limits_left_usdc: Type.String(),
  /** What agents can still spend now: never more than is available. */
  can_spend_usdc: orNull(Type.String()),
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
  /** What needs attention, the most urgent first. */
  conditions: list(MetConditionSchema),
  /** What each wallet holds, the oldest wallet first. At most 1,000 wallets, the newest ones. */
  wallets: list(FundsSchema),
  /** How much of each active grant's limit was used in the last 24 hours. At most 8 grants, the most used first. */
  caps: list(CapSchema),
  /** How many active grants there are. */
  caps_count: Type.Integer(),
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
})

const AgentSpendSchema = Type.Object({
  agent_id: orNull(Type.String()),
  /** The number of the agent's colour in all charts. Null for the sum of the agents that are not shown. */
  color: orNull(Type.Integer()),
  total_usdc: Type.String(),
  previous_usdc: Type.String(),
  /** What the agent spent, one amount for each bar of the chart. */
  bars_usdc: list(Type.String()),
})

const SpendingRowSchema = Type.Object({
  /** The agent, address or website. Null for the sum of all that are not shown. */
  name: orNull(Type.String()),
  /** The name that the workspace gave to the recipient or wallet. */
  label: orNull(Type.String()),
  /** Whether the website is only what the agents said, because they fetched the resources themselves. */
  is_claimed: Type.Boolean(),
  spent_usdc: Type.String(),
  previous_usdc: Type.String(),
  payments: Type.Integer(),
  /** How many agents, addresses or websites the row adds up. */
  names: Type.Integer(),
})

/** Calendar days of the reader's time zone, both included. */
const DaysSchema = Type.Object({ from: Type.String(), to: Type.String() })

const SpendingSchema = Type.Object({
  period,
  zone: Type.String(),
  days: DaysSchema,
  /** When the period begins and ends. */
  start: isoTime(),
  end: isoTime(),
  /** The days that `previous_usdc` covers. */
  previous_days: DaysSchema,
  /** Whether the period has too many payments that are in no sum. Then all figures are empty. */
  is_too_large: Type.Boolean(),
  /** When each bar of the chart begins. */
  bars_at: list(isoTime()),
  /** What agents spent in the period: their confirmed and pending payments. */
  spent_usdc: Type.String(),
  pending_usdc: Type.String(),
  previous_usdc: Type.String(),
  /** What owners withdrew in the period: confirmed and pending withdrawals. */
  withdrawn_usdc: Type.String(),
  /** The agents that spent most; then, if there are more agents, one entry with `agent_id: null` for all others. */
  agents: list(AgentSpendSchema),
  by,
  /** The highest sums first; then, if there are more, one row with `name: null` for all others. */
  rows: list(SpendingRowSchema),
  /** The number of payment requests with each result. Counts the requests that agents made in the period. */
  counts: Type.Object({
    confirmed: Type.Integer(),
    pending: Type.Integer(),
    failed: Type.Integer(),
    refused: Type.Integer(),
  }),
})

const SpendingQuery = Type.Object({
  mode,
  period,
  /** The first and the last day of a `custom` period, such as `2026-11-01`. */
  from: day,
  to: day,
  /** The reader's time zone, such as `Europe/Berlin`. */
  zone: Type.String({ minLength: 1, maxLength: ZONE_CHARS_MAX }),
  by,
  /** The one agent that the chart, the totals and the rows by recipient are about. */
  agent,
})

export type Overview = Shape<typeof OverviewSchema>
export type MetCondition = Shape<typeof MetConditionSchema>
export type WalletFunds = Shape<typeof FundsSchema>
export type Spending = Shape<typeof SpendingSchema>
export type SpendingRow = Shape<typeof SpendingRowSchema>

export const OVERVIEW_ROUTES = {
  get: {
    method: 'GET',
    url: '/console/workspaces/:slug/overview',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ overview: OverviewSchema }) },
    },
  },
  /** Returns what was spent in a calendar period of the reader's time zone, and in the period before. */
  spending: {
    method: 'GET',
    url: '/console/workspaces/:slug/overview/spending',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: SpendingQuery,
      response: { 200: Type.Object({ spending: SpendingSchema }) },
    },
  },
  /** Returns what each wallet holds, and how much of it agents can still spend. */
  funds: {
    method: 'GET',
    url: '/console/workspaces/:slug/overview/funds',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ wallets: list(FundsSchema) }) },
    },
  },
  /** Returns how many grants wait for a signature that the caller can give. At most 100 grants are looked at. */
  waiting: {
    method: 'GET',
    url: '/console/workspaces/:slug/overview/waiting',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ grants: Type.Integer() }) },
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
