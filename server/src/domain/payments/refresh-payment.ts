import { ChainUnavailable } from '../../chain/errors.ts'
import { SharedReads } from '../../lib/shared-reads.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { getPayment } from './get-payment.ts'
import { isReceiptDue, type Payment } from './payment.ts'
import { settlePayments } from './settle-payments.ts'

type RefreshContext = Pick<Context, 'db' | 'clock' | 'chains' | 'logger'>

/** The chain reads of this process that are under way. They are kept per `chains` object, which a process opens once. */
const readsUnderWay = new WeakMap<Context['chains'], SharedReads<Payment>>()

/**
 * Returns a payment in its latest known state. A pending payment with a hash is settled from the chain first; concurrent
 * callers share one read of the chain. If the chain is unavailable, returns the payment as it is recorded. Throws 404
 * `not_found`.
 */
export async function refreshPayment(
  ctx: RefreshContext,
  { accountId, mode, id }: { accountId: string; mode: Mode; id: string },
): Promise<Payment> {
  const payment = await getPayment(ctx, { accountId, mode, id })
  if (payment.status !== 'pending' || payment.txHash === null) return payment
  const shared = readsUnderWay.get(ctx.chains) ?? new SharedReads<Payment>()
  readsUnderWay.set(ctx.chains, shared)
  return await shared.read(`${id} ${payment.txHash}`, () => settleFromChain(ctx, payment))
}

async function settleFromChain(ctx: RefreshContext, payment: Payment): Promise<Payment> {
  const { mode, id, minedBlock } = payment
  const chain = ctx.chains[mode]
  try {
    if (minedBlock !== null && !isReceiptDue(payment, { head: await chain.readHead(), ...chain })) return payment
    const [refreshed] = await settlePayments(ctx, { mode, payments: [payment] })
    return refreshed ?? payment
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error
    ctx.logger.warn({ err: error, payment: id }, 'a payment could not be refreshed from the chain')
    return payment
  }
}
