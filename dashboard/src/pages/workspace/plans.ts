import type { Plan } from '@bursar/server/src/console/contract/workspaces.ts'

export const PLAN_TITLES: Readonly<Record<Plan, string>> = { developer: 'Developer', pro: 'Pro', scale: 'Scale' }

interface PlanLimits {
  readonly plan: Plan
  /** Live payments per calendar month. In this and the other fields, null means no limit. */
  readonly payments: number | null
  /** The limits of agents and wallets apply to each mode separately. */
  readonly agents: number | null
  readonly wallets: number | null
}

/** The limits of each plan. */
export const PLANS: readonly PlanLimits[] = [
  { plan: 'developer', payments: 1_000, agents: 100, wallets: 3 },
  { plan: 'pro', payments: 50_000, agents: 10_000, wallets: 100 },
  { plan: 'scale', payments: null, agents: null, wallets: null },
]
