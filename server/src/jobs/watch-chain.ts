import type { Context } from '../domain/context.ts'
import type { Payment } from '../domain/payments/payment.ts'
import { settlePayments } from '../domain/payments/settle-payments.ts'
import { listAwaitingChain } from '../domain/reconciliation/reconciliation-store.ts'
import { endPaymentWaits } from '../domain/reconciliation/wait-for-payment.ts'
import type { Loop } from '../lib/loop.ts'
import type { Mode } from '../values/mode.ts'
import { ReceiptSchedule } from './receipt-schedule.ts'
import { startLeasedLoop } from './start-leased-loop.ts'

const INTERVAL_MS = 400
const LEASE_MS = 10_000
const PAYMENTS_PER_PAGE = 200
/**
 * One round reads at most this many pages of payments. The next round continues after them. Without this limit, a
 * stalled chain with thousands of pending payments would keep the process from serving requests.
 */
const PAGES_PER_ROUND_MAX = 5
/**
 * How long the watcher follows a payment. A payment that is older and still pending is stuck, and the reconciler reads
 * its receipt, less and less often.
 */
const WATCHED_MS = 60 * 60_000

/**
 * Settles the payments of one mode when the chain confirms them, in the one process that has the lease. While payments
 * are pending, each round reads the chain's head. It reads receipts if the head has moved, or if there is a new
 * transaction.
 */
export function watchChain(ctx: Context, { mode, holder }: { mode: Mode; holder: string }): Loop {
  const chain = ctx.chains[mode]
  const schedule = new ReceiptSchedule(chain.confirmations)
  let last: Payment | null = null

  const settleDue = async (payments: readonly Payment[], head: bigint): Promise<void> => {
    const due = schedule.chooseDue(payments, { head, now: ctx.clock.now() })
    const hashes = due.flatMap(({ txHash }) => (txHash === null ? [] : [txHash]))
    if (hashes.length === 0) return
    const reading = await chain.readReceiptsAtHead(hashes)
    await settlePayments(ctx, {
      ...{ mode, payments: due, reading },
      onSettled: (payment) => endPaymentWaits(ctx, [payment]),
    })
    // Record the head that the node returned with the receipts. If it is older than `head`, the same receipts are due
    // again.
    schedule.record(due, reading.head)
  }

  const options = { name: `watch:${mode}`, holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS }
  return startLeasedLoop(ctx, options, async (signal, renewLease) => {
    let failure: unknown
    let head: bigint | null = null
    for (let page = 0; page < PAGES_PER_ROUND_MAX && !signal.aborted; page += 1) {
      if (page > 0 && !(await renewLease())) return
      const since = new Date(ctx.clock.now().getTime() - WATCHED_MS)
      const payments: Payment[] = await ctx.db.read(
        listAwaitingChain(mode, { since, after: last, limit: PAYMENTS_PER_PAGE }),
      )
      if (payments.length > 0) head ??= await chain.readHead()
      if (head !== null) {
        await settleDue(payments, head).catch((error: unknown) => {
          failure ??= error
        })
      }
      last = payments.length < PAYMENTS_PER_PAGE ? null : (payments.at(-1) ?? null)
      if (last === null) break
    }
    if (failure !== undefined) throw failure
  })
}
