import type { Context } from '../context.ts'
import type { Payment, TxHash } from './payment.ts'
import { settlePayment } from './settle-payment.ts'

/** So many transactions at once: the pool is the payments' own. */
const SETTLERS = 4

/**
 * Settles payments of one mode that have a hash, from one reading of the chain. One that can't be settled does not keep
 * the others; the first such error is thrown in the end. Throws `ChainUnavailable`.
 */
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
  const settled = [...payments]
  const errors: unknown[] = []
  const waiting = payments.entries()
  const settler = async (): Promise<void> => {
    for (const [index, payment] of waiting) {
      try {
        settled[index] = await settlePayment(ctx, { payment, receipt: receiptOf(payment.txHash), head })
      } catch (error) {
        errors.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: SETTLERS }, settler))
  if (errors.length > 0) throw errors[0]
  return settled
}
