import type { Context } from '../domain/context.ts'
import type { Payment } from '../domain/payments/payment.ts'
import { settlePayments } from '../domain/payments/settle-payments.ts'
import { listAwaitingChain } from '../domain/payments/payments-store.ts'
import type { Loop } from '../lib/loop.ts'
import type { Mode } from '../values/mode.ts'
import { ReceiptLooks } from './receipt-looks.ts'
import { startLeasedLoop } from './start-leased-loop.ts'

const INTERVAL_MS = 400
const LEASE_MS = 10_000
const PAYMENTS_PER_PAGE = 200
/**
 * A round looks at so many pages at the most, and the next one goes on where it ended: a chain that stands still, and
 * thousands that wait for it, must not keep the process from its requests.
 */
const PAGES_PER_ROUND_MAX = 5
/** What is older than this and still waits is stuck: the reconciler reads its receipt, ever more rarely. */
const WATCHED_MS = 60 * 60_000

/**
 * Settles the payments of one mode as their chain confirms them. Of all processes, the one with the lease does it. While
 * payments wait, a round asks for the head; it asks for receipts when there is a new one, or a new transaction.
 */
export function watchChain(ctx: Context, { mode, holder }: { mode: Mode; holder: string }): Loop {
  const chain = ctx.chains[mode]
  const looks = new ReceiptLooks(chain.confirmations)
  let last: Payment | null = null

  const look = async (payments: readonly Payment[], head: bigint): Promise<void> => {
    const due = looks.chooseDue(payments, { head, now: ctx.clock.now() })
    const hashes = due.flatMap(({ txHash }) => (txHash === null ? [] : [txHash]))
    if (hashes.length === 0) return
    const reading = await chain.readReceiptsAtHead(hashes)
    await settlePayments(ctx, { mode, payments: due, reading })
    // Of the head that came with the receipts: when it is older than the one that was told before, they are due again.
    looks.record(due, reading.head)
  }

  const options = { name: `watch:${mode}`, holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS }
  return startLeasedLoop(ctx, options, async (signal, renewLease) => {
    let failure: unknown
    let head: bigint | null = null
    for (let page = 0; page < PAGES_PER_ROUND_MAX && !signal.aborted; page += 1) {
      if (page > 0 && !(await renewLease())) return
      const since = new Date(ctx.clock.now().getTime() - WATCHED_MS)
      const payments: Payment[] = await ctx.db.runRelaxed(
        listAwaitingChain(mode, { since, after: last, limit: PAYMENTS_PER_PAGE }),
      )
      if (payments.length > 0) head ??= await chain.readHead()
      if (head !== null) {
        await look(payments, head).catch((error: unknown) => {
          failure ??= error
        })
      }
      last = payments.length < PAYMENTS_PER_PAGE ? null : (payments.at(-1) ?? null)
      if (last === null) break
    }
    if (failure !== undefined) throw failure
  })
}
