import type { Context } from '../context.ts'
import { monthOf, type Plan } from '../plans/plan.ts'
import { setAllowance } from '../plans/store.ts'
import type { Account } from './account.ts'
import { lockAccount, updatePlan } from './store.ts'

/** Moves a workspace to a plan, and corrects this month's count of sponsored transactions where one is given. */
export async function changePlan(
  ctx: Pick<Context, 'db' | 'clock'>,
  { account, plan, allowanceUsed }: { account: Account; plan: Plan; allowanceUsed?: number | undefined },
): Promise<Account> {
  const correction =
    allowanceUsed === undefined ? [] : [setAllowance(account.id, monthOf(ctx.clock.now()), allowanceUsed)]
  await ctx.db.transaction(async (transaction) => {
    await transaction.commit([lockAccount(account.id), updatePlan(account.id, plan), ...correction])
  })
  return { ...account, plan }
}
