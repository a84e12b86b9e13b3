import { isId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { Payment } from './payment.ts'
import { findPayment } from './payments-store.ts'

/** Returns the recorded payment with this id in the given workspace and mode. Throws 404 `not_found`. */
export async function getPayment(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode, id }: { workspaceId: string; mode: Mode; id: string },
): Promise<Payment> {
  const payment = isId('payment', id) ? await ctx.db.read(findPayment(workspaceId, mode, id)) : null
  if (payment === null) throw paymentNotFound()
  return payment
}

export function paymentNotFound(): Problem {
  return new Problem('not_found', 'No payment has this id in this workspace and mode.')
}
