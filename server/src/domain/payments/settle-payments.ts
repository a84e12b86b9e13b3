import type { Context } from '../context.ts'
import type { Payment, TxHash } from './payment.ts'
import { settlePayment } from './settle-payment.ts'

/** Settles payments of one mode that have a hash, from one reading of the chain. Throws `ChainUnavailable`. */
export async function settlePayments(
  ctx: Pick<Context, 'db' | 'clock' | 'chains'>,
  { mode, payments }: { mode: Payment['mode']; payments: readonly Payment[] },
): Promise<Payment[]> {
  const hashes = payments.flatMap((payment) => (payment.txHash === null ? [] : [payment.txHash]))
  if (hashes.length === 0) return [...payments]
  const chain = ctx.chains[mode]
  // Receipts first: a head that is read later can only make them deeper, never leave one above it.
  const receipts = await chain.readReceipts(hashes)
  const head = await chain.readHead()
  const receiptOf = (txHash: TxHash | null) => (txHash === null ? null : (receipts.get(txHash) ?? null))
  return await Promise.all(
    payments.map((payment) => settlePayment(ctx, { payment, receipt: receiptOf(payment.txHash), head })),
  )
}
