import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { monthOf, type Plan } from '../plans/plan.ts'
import { setAllowance } from '../plans/plans-store.ts'
import type { Workspace } from './workspace.ts'
import { lockWorkspace, updatePlan } from './workspaces-store.ts'

/**
 * Changes a workspace's plan. If `allowanceUsed` is given, it replaces this month's count of payments that use the
 * plan's allowance.
 */
export async function changePlan(
  ctx: Pick<Context, 'db' | 'clock'>,
  {
    workspace,
    plan,
    allowanceUsed,
    actor,
  }: { workspace: Workspace; plan: Plan; allowanceUsed?: number | undefined; actor: Actor },
): Promise<Workspace> {
  const now = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const before = await transaction.run(lockWorkspace(workspace.id))
    if (before?.plan === plan && allowanceUsed === undefined) return
    const details = { plan, before: before?.plan, allowance_used: allowanceUsed }
    const entry = { logId: workspace.id, createdAt: now, actor, action: 'plan.changed', details } as const
    await transaction.commit([
      updatePlan(workspace.id, plan),
      ...(allowanceUsed === undefined ? [] : [setAllowance(workspace.id, monthOf(now), allowanceUsed)]),
      insertAuditEntry({ ...entry, subject: workspace.id }),
    ])
  })
  return { ...workspace, plan }
}
