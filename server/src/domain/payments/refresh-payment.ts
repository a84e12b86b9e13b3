import { ChainUnavailable } from '../../chain/errors.ts'
import { SharedReads } from '../../lib/shared-reads.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { getPayment } from './get-payment.ts'
import { isReceiptDue, type Payment } from './payment.ts'
import { settlePayments } from './settle-payments.ts'

type RefreshContext = Pick<Context, 'db' | 'clock' | 'chains' | 'logger'>

/** The look-ups that are under way in this process: it opens its chains once. */
const lookUps = new WeakMap<Context['chains'], SharedReads<Payment>>()

/**
 * One payment in its latest known state: a pending one that has a hash is refreshed from the chain first. Callers at the
 * same time share a look-up. While the chain is out of reach, the latest known state is the recorded one. 404 `not_found`.
 */
export async function refreshPayment(
  ctx: RefreshContext,
  { accountId, mode, id }: { accountId: string; mode: Mode; id: string },
): Promise<Payment> {
  const payment = await getPayment(ctx, { accountId, mode, id })
  if (payment.status !== 'pending' || payment.txHash === null) return payment
  const shared = lookUps.get(ctx.chains) ?? new SharedReads<Payment>()
  lookUps.set(ctx.chains, shared)
  return await shared.read(`${id} ${payment.txHash}`, () => lookUp(ctx, payment))
}

async function lookUp(ctx: RefreshContext, payment: Payment): Promise<Payment> {
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
