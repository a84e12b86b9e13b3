import { createId } from '../../../values/ids.ts'
import type { Refusal } from '../../../values/problem.ts'
import type { Context } from '../../context.ts'
import type { PaymentRequest } from '../admission/reserve-payment.ts'
import { insertRefusal } from './refusals-store.ts'

/** Keeps what was refused, and why, a moment later: whoever asked does not wait, and gets the same answer if it is lost. */
export function keepRefusal(
  ctx: Pick<Context, 'db' | 'clock'>,
  { request, refusal }: { request: PaymentRequest; refusal: Refusal },
): void {
  const now = ctx.clock.now()
  const { code, details = {} } = refusal
  const id = createId('refusal', now)
  ctx.db.deferWrite(insertRefusal({ ...request, id, code, details, createdAt: now }))
}
