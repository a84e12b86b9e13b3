import type { Period } from './period.ts'

/** By what the payments of a report are added up. */
export const SPENDING_BY = ['agent', 'recipient', 'wallet', 'host'] as const
export type SpendingBy = (typeof SPENDING_BY)[number]

/** How many agents the chart shows separately: those that spent most. The spending of all other agents is added up. */
export const AGENTS_SHOWN_MAX = 6
/** How many rows the table has. The last ones are added up. */
export const ROWS_SHOWN_MAX = 100
/**
 * A report reads at most this many payments one by one: those that are in no hourly sum yet, or no longer. About half a
 * second of work for the database.
 */
export const PAYMENTS_READ_MAX = 250_000
/** How many colours agents have. A workspace with at most this many agents has a colour of its own for each of them. */
export const AGENT_COLORS = 12

/** What an agent spent in each bar. If `agentId` is null, this is the sum of all agents that are not shown. */
export interface AgentSpend {
  readonly agentId: string | null
  /** The agent's colour in every chart, from 0. Null for the sum of the others. */
  readonly color: number | null
  readonly barsMicro: readonly bigint[]
  readonly totalMicro: bigint
  readonly previousMicro: bigint
}

/** What was spent under one agent, recipient, wallet or website, in the period and in the one before. */
export interface SpendingRow {
  /** Null for the sum of all that are not shown. */
  readonly name: string | null
  /** The name that the workspace gave to the recipient or the wallet. Null if there is none. */
  readonly label: string | null
  /** Whether the agents fetched the resources themselves, so that the website is only what they said. */
  readonly isClaimed: boolean
  readonly spentMicro: bigint
  readonly previousMicro: bigint
  /** How many payments of the period are confirmed or pending. */
  readonly payments: number
  /** How many agents, recipients, wallets or websites the row adds up. */
  readonly names: number
}

export interface Spending {
  readonly period: Period
  readonly by: SpendingBy
  /** Whether the period has too many payments that are in no sum. Then all figures are empty. */
  readonly isTooLarge: boolean
  /** What agents spent: their confirmed and pending payments. */
  readonly spentMicro: bigint
  readonly previousMicro: bigint
  /** How much of it is pending. */
  readonly pendingMicro: bigint
  /** What owners withdrew. */
  readonly withdrawnMicro: bigint
  readonly agents: readonly AgentSpend[]
  readonly rows: readonly SpendingRow[]
  /** How many requests of agents ended with each result. */
  readonly counts: RequestCounts
}

export interface RequestCounts {
  readonly confirmed: number
  readonly pending: number
  readonly failed: number
  readonly refused: number
}
