import type { Context } from '../context.ts'
import { monthOf, nextMonthOf, PLANS, type Plan, type PlanLimits } from './plan.ts'
import { findPlanUse, type UsedOfPlan } from './plans-store.ts'

export interface PlanUse {
  readonly used: UsedOfPlan
  readonly limits: PlanLimits
  /** When the next month's allowance begins. */
  readonly resetsAt: Date
}

/** Returns how much of its plan's limits a workspace uses now. */
export async function getPlanUse(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, plan }: { workspaceId: string; plan: Plan },
): Promise<PlanUse> {
  const now = ctx.clock.now()
  const used = await ctx.db.read(findPlanUse(workspaceId, monthOf(now)))
  return { used, limits: PLANS[plan], resetsAt: nextMonthOf(now) }
}
