import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { monthOf, type Plan } from '../plans/plan.ts'
import { setAllowance } from '../plans/plans-store.ts'
import type { Account } from './account.ts'
import { lockAccount, updatePlan } from './accounts-store.ts'

/**
 * Changes a workspace's plan. If `allowanceUsed` is given, it replaces this month's count of payments that use the
 * plan's allowance.
 */
export async function changePlan(
  ctx: Pick<Context, 'db' | 'clock'>,
  {
    account,
    plan,
    allowanceUsed,
    actor,
  }: { account: Account; plan: Plan; allowanceUsed?: number | undefined; actor: Actor },
): Promise<Account> {
  const now = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const before = await transaction.run(lockAccount(account.id))
    if (before?.plan === plan && allowanceUsed === undefined) return
    const details = { plan, before: before?.plan, allowance_used: allowanceUsed }
    const entry = { logId: account.id, createdAt: now, actor, action: 'plan.changed', details } as const
    await transaction.commit([
      updatePlan(account.id, plan),
      ...(allowanceUsed === undefined ? [] : [setAllowance(account.id, monthOf(now), allowanceUsed)]),
      insertAuditEntry({ ...entry, subject: account.id }),
    ])
  })
  return { ...account, plan }
}
