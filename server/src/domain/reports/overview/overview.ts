import type { Address } from '../../../values/address.ts'
import type { MicroUsdc } from '../../../values/money.ts'
import type { GrantState } from '../../grants/grant-state.ts'
import type { ListedPayment } from '../../purchases/purchase-summary.ts'

const HOUR_MS = 60 * 60 * 1_000

/**
 * A purchase that was paid and not delivered is shown as something to act on for this long after its request (D70a).
 */
export const UNDELIVERED_SHOWN_MS = 7 * 24 * HOUR_MS
/** To count the purchases that were paid and not delivered, at most this many purchases without delivery are read. */
export const UNDELIVERED_READ_MAX = 10_000

/** The time ranges of an overview: how many bars the chart has, and how much time each bar covers. */
export const RANGES = {
  '24h': { bars: 24, barMs: HOUR_MS },
  '7d': { bars: 28, barMs: 6 * HOUR_MS },
  '30d': { bars: 30, barMs: 24 * HOUR_MS },
} as const

export type Range = keyof typeof RANGES

/** How many agents are shown separately: those that spent the most. The spending of all other agents is added up. */
export const AGENTS_SHOWN_MAX = 6
export const CAPS_SHOWN_MAX = 8
export const PAYMENTS_SHOWN_MAX = 5

export interface Bars {
  /** When each bar begins. */
  readonly starts: readonly Date[]
  readonly barMs: number
  /** When the last bar ends: the next full hour. */
  readonly end: Date
}

/**
 * What an agent spent in each bar of the chart. If `agentId` is null, this is the sum of all agents that are not shown
 * separately.
 */
export interface AgentSpend {
  readonly agentId: string | null
  readonly barsMicro: readonly bigint[]
  readonly totalMicro: bigint
}

/** How many requests for payments ended with each result. */
export interface RequestCounts {
  readonly confirmed: number
  readonly pending: number
  readonly failed: number
  readonly refused: number
}

/** How much of a grant's 24-hour limit is used now. */
export interface CapUse {
  readonly grantId: string
  readonly agentId: string
  readonly wallet: Address
  readonly walletName: string
  readonly state: GrantState
  readonly dailyCapMicro: MicroUsdc
  readonly spent24hMicro: MicroUsdc
}

/** Which steps of the setup are done. */
export interface Steps {
  readonly wallet: boolean
  readonly deposit: boolean
  readonly agent: boolean
  /** A grant that an owner has signed. */
  readonly grant: boolean
  readonly key: boolean
  readonly payment: boolean
}

export interface Overview {
  readonly range: Range
  readonly bars: Bars
  readonly spentMicro: bigint
  readonly withdrawnMicro: bigint
  readonly spend: readonly AgentSpend[]
  readonly counts: RequestCounts
  readonly caps: readonly CapUse[]
  readonly payments: readonly ListedPayment[]
  readonly steps: Steps
  /** How many of the purchases that were requested since this time were paid and not delivered. */
  readonly undelivered: { readonly count: number; readonly since: Date }
}

/** Returns the bars of a range that ends at the next full hour. */
export function barsOf(range: Range, now: Date): Bars {
  const { bars, barMs } = RANGES[range]
  const end = (Math.floor(now.getTime() / HOUR_MS) + 1) * HOUR_MS
  const starts = Array.from({ length: bars }, (_, index) => new Date(end - (bars - index) * barMs))
  return { starts, barMs, end: new Date(end) }
}
