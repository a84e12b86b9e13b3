import type { Mode } from '../../values/mode.ts'

const MIB = 1_024 * 1_024

/**
 * The limits of each plan (specification, part 8; D10, D12, D93). `null` means unlimited. Anybody can get the first
 * plan, and test USDC costs nothing, so its budget in test mode is small: 85 of the largest responses, or ten thousand
 * of an ordinary size. The operator gives the larger plans to workspaces that buy all day.
 */
export const PLANS = {
  developer: {
    ...{ agentsMax: 100, walletsMax: 3, monthlyAllowance: 1_000 },
    answerBytesMax: { test: 128 * MIB, live: 512 * MIB },
  },
  pro: {
    ...{ agentsMax: 10_000, walletsMax: 100, monthlyAllowance: 50_000 },
    answerBytesMax: { test: 512 * MIB, live: 4_096 * MIB },
  },
  scale: {
    ...{ agentsMax: null, walletsMax: null, monthlyAllowance: null },
    answerBytesMax: { test: 2_048 * MIB, live: 16_384 * MIB },
  },
} as const satisfies Record<string, PlanLimits>

export interface PlanLimits {
  /** Agents per mode. */
  readonly agentsMax: number | null
  /** Wallets per mode. */
  readonly walletsMax: number | null
  /** Live payments that the enclave accepted, per UTC calendar month. */
  readonly monthlyAllowance: number | null
  /** The budget for the responses of sellers that are kept, in bytes, in each mode (D93). */
  readonly answerBytesMax: Readonly<Record<Mode, number>>
}

export type Plan = keyof typeof PLANS

export const PLAN_NAMES = Object.keys(PLANS) as readonly Plan[]

export function isPlan(text: string): text is Plan {
  return Object.hasOwn(PLANS, text)
}

/** Returns the first day of the UTC calendar month that contains `time`, as `YYYY-MM-01`. */
export function monthOf(time: Date): string {
  return `${time.toISOString().slice(0, 7)}-01`
}

/** Returns when the next month's allowance begins: the 1st of the next UTC calendar month. */
export function nextMonthOf(time: Date): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 1))
}
