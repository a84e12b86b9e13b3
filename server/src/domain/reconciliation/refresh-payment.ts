import { ChainUnavailable } from '../../chain/errors.ts'
import type { SharedReads } from '../../lib/shared-reads.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { getPayment, paymentNotFound } from '../payments/get-payment.ts'
import { isReceiptDue, nameInLog, type Payment } from '../payments/payment.ts'
import { settleAuthorizations } from '../payments/authorizations/settle-authorizations.ts'
import { settlePayments } from '../payments/settle-payments.ts'

declare module '../context.ts' {
  interface Context {
    /** The reads of the chain for single payments that this process has begun and not finished. */
    readonly paymentReads: SharedReads<Payment>
  }
}

type SettleContext = Pick<Context, 'db' | 'clock' | 'chains' | 'logger' | 'measurements'>
type RefreshContext = SettleContext & Pick<Context, 'paymentReads'>

/**
 * Returns a payment with its latest known status. If the payment is pending, and has a hash or is a purchase, it is
 * first settled from the chain if possible. Concurrent callers share one read of the chain. If the chain is
 * unavailable, returns the payment as it was last recorded. With `ofAgents`, finds only payments that an agent
 * requested. Throws 404 `not_found` if it finds no payment.
 */
export async function refreshPayment(
  ctx: RefreshContext,
  { workspaceId, mode, id, ofAgents = false }: { workspaceId: string; mode: Mode; id: string; ofAgents?: boolean },
): Promise<Payment> {
  const payment = await getPayment(ctx, { workspaceId, mode, id })
  if (ofAgents && payment.kind === 'withdrawal') throw paymentNotFound()
  if (payment.status !== 'pending') return payment
  if (payment.txHash === null && payment.kind !== 'x402') return payment
  return await ctx.paymentReads.read(`${id} ${payment.txHash ?? ''}`, () => settleFromChain(ctx, payment))
}

async function settleFromChain(ctx: SettleContext, payment: Payment): Promise<Payment> {
  const { mode, kind, minedBlock } = payment
  const chain = ctx.chains[mode]
  try {
    if (minedBlock !== null && !isReceiptDue(payment, { head: await chain.readHead(), ...chain })) return payment
    const settle = kind === 'x402' ? settleAuthorizations : settlePayments
    const [refreshed] = await settle(ctx, { mode, payments: [payment] })
    return refreshed ?? payment
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error
    ctx.logger.warn({ err: error, ...nameInLog(payment) }, 'a payment could not be refreshed from the chain')
    return payment
  }
}
