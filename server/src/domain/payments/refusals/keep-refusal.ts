import { createId } from '../../../values/ids.ts'
import type { Refusal } from '../../../values/problem.ts'
import type { Context } from '../../context.ts'
import type { PaymentRequest } from '../admission/reserve-payment.ts'
import { insertRefusal } from './store.ts'

/** Keeps what was refused, and why. Whoever asked gets the same answer whether or not that can be written. Never throws. */
export async function keepRefusal(
  ctx: Pick<Context, 'db' | 'clock' | 'logger'>,
  { request, refusal }: { request: PaymentRequest; refusal: Refusal },
): Promise<void> {
  const now = ctx.clock.now()
  const { code, details = {} } = refusal
  const id = createId('refusal', now)
  try {
    await ctx.db.write(insertRefusal({ ...request, id, code, details, createdAt: now }))
  } catch (error) {
    ctx.logger.warn({ err: error, code }, 'a refusal of a payment could not be kept')
  }
}
