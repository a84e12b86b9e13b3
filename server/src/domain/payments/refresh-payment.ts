import { ChainUnavailable } from '../../chain/errors.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { getPayment } from './get-payment.ts'
import type { Payment } from './payment.ts'
import { settlePayments } from './settle-payments.ts'

/**
 * One payment in its latest known state: a pending one that has a hash is refreshed from the chain first. While the
 * chain is out of reach, the latest known state is the recorded one. 404 `not_found`.
 */
export async function refreshPayment(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'logger'>,
  { accountId, mode, id }: { accountId: string; mode: Mode; id: string },
): Promise<Payment> {
  const payment = await getPayment(ctx, { accountId, mode, id })
  if (payment.status !== 'pending' || payment.txHash === null) return payment
  try {
    const [refreshed] = await settlePayments(ctx, { mode, payments: [payment] })
    return refreshed ?? payment
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error
    ctx.logger.warn({ err: error, payment: id }, 'a payment could not be refreshed from the chain')
    return payment
  }
}
