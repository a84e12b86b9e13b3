import type { Address } from '../../../values/address.ts'
import type { MicroUsdc } from '../../../values/money.ts'
import type { GrantState } from '../../grants/grant-state.ts'
import type { Payment } from '../../payments/payment.ts'

const HOUR_MS = 60 * 60 * 1_000

/** What an overview can be of: so many bars of so long each. */
export const RANGES = {
  '24h': { bars: 24, barMs: HOUR_MS },
  '7d': { bars: 28, barMs: 6 * HOUR_MS },
  '30d': { bars: 30, barMs: 24 * HOUR_MS },
} as const

export type Range = keyof typeof RANGES

/** The agents that spent most have bars of their own; all others share some. */
export const AGENTS_SHOWN_MAX = 6
export const CAPS_SHOWN_MAX = 8
export const PAYMENTS_SHOWN_MAX = 5

export interface Bars {
  /** When each begins. */
  readonly starts: readonly Date[]
  readonly barMs: number
  /** When the last one is over: the next full hour. */
  readonly end: Date
}

/** What an agent spent, bar by bar; the agent `null` is all those that are not named. */
export interface AgentSpend {
  readonly agentId: string | null
  readonly barsMicro: readonly bigint[]
  readonly totalMicro: bigint
}

/** How many requests ended how. */
export interface RequestCounts {
  readonly confirmed: number
  readonly pending: number
  readonly failed: number
  readonly refused: number
}

/** How much of a grant's cap over 24 hours is used now. */
export interface CapUse {
  readonly grantId: string
  readonly agentId: string
  readonly wallet: Address
  readonly walletName: string
  readonly state: GrantState
  readonly dailyCapMicro: MicroUsdc
  readonly spent24hMicro: MicroUsdc
}

/** What there is already. */
export interface Steps {
  readonly wallet: boolean
  readonly deposit: boolean
  readonly agent: boolean
  /** One that an owner has signed. */
  readonly grant: boolean
  readonly key: boolean
  readonly payment: boolean
}

export interface Overview {
  readonly range: Range
  readonly bars: Bars
  readonly spentMicro: bigint
  readonly spend: readonly AgentSpend[]
  readonly counts: RequestCounts
  readonly caps: readonly CapUse[]
  readonly payments: readonly Payment[]
  readonly steps: Steps
}

/** The bars of a range that ends at the next full hour. */
export function barsOf(range: Range, now: Date): Bars {
  const { bars, barMs } = RANGES[range]
  const end = (Math.floor(now.getTime() / HOUR_MS) + 1) * HOUR_MS
  const starts = Array.from({ length: bars }, (_, index) => new Date(end - (bars - index) * barMs))
  return { starts, barMs, end: new Date(end) }
}
