import { isId } from '../../../values/ids.ts'
import type { Mode } from '../../../values/mode.ts'
import { Problem } from '../../../values/problem.ts'
import type { Context } from '../../context.ts'
import type { PaymentRefusal } from './refusal.ts'
import { findRefusal } from './refusals-store.ts'

/** One refusal of (account, mode), or 404 `not_found`: it is kept for 30 days. */
export async function getRefusal(
  ctx: Pick<Context, 'db'>,
  { accountId, mode, id }: { accountId: string; mode: Mode; id: string },
): Promise<PaymentRefusal> {
  const refusal = isId('refusal', id) ? await ctx.db.runRelaxed(findRefusal(accountId, mode, id)) : null
  if (refusal === null) {
    throw new Problem('not_found', 'No refused request of the last 30 days has this id in this account and mode.')
  }
  return refusal
}
