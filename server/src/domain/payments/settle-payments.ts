import type { ReceiptsAtHead } from '../../chain/open-chain.ts'
import type { Context } from '../context.ts'
import type { Payment, TxHash } from './payment.ts'
import { settlePayment } from './settle-payment.ts'

/**
 * How many payments are settled at the same time. More would use up the database connections that new payments need.
 */
const CONCURRENCY = 4

/**
 * Settles those of the given payments that have a transaction hash. All of them must belong to one mode. Uses the
 * caller's `reading` of the chain, or reads the chain once if there is none. If one payment cannot be settled, the
 * others are still settled, and the first error is thrown at the end. Calls `onSettled` for each payment as soon as its
 * outcome is stored. Throws `ChainUnavailable`.
 */
export async function settlePayments(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'logger' | 'measurements'>,
  {
    mode,
    payments,
    reading,
    onSettled,
  }: {
    mode: Payment['mode']
    payments: readonly Payment[]
    reading?: ReceiptsAtHead | undefined
    onSettled?: (payment: Payment) => void
  },
): Promise<Payment[]> {
  const hashes = payments.flatMap((payment) => (payment.txHash === null ? [] : [payment.txHash]))
  if (hashes.length === 0) return [...payments]
  const { receipts, head } = reading ?? (await ctx.chains[mode].readReceiptsAtHead(hashes))
  const receiptOf = (txHash: TxHash | null) => (txHash === null ? null : (receipts.get(txHash) ?? null))
  const settled = [...payments]
  const errors: unknown[] = []
  const queue = payments.entries()
  const settleNext = async (): Promise<void> => {
    for (const [index, payment] of queue) {
      try {
        const current = await settlePayment(ctx, { payment, receipt: receiptOf(payment.txHash), head })
        settled[index] = current
        if (current.status !== 'pending') onSettled?.(current)
      } catch (error) {
        errors.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, settleNext))
  if (errors.length > 0) throw errors[0]
  return settled
}
