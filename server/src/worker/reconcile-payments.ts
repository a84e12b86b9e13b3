import { giveBackLease, takeLease } from '../db/leases.ts'
import type { Query } from '../db/query.ts'
import type { Context } from '../domain/context.ts'
import { SETTLING_MS, type Payment } from '../domain/payments/payment.ts'
import { reconcilePayment } from '../domain/payments/reconcile-payment.ts'
import { listLongAwaitingChain, listWithoutHash } from '../domain/payments/store.ts'
import { startLoop, type Loop } from '../lib/loop.ts'
import { MODES } from '../values/mode.ts'

const INTERVAL_MS = 1_000
/** What has a hash, and waits for the chain past the settling time, is asked about less often. */
const STALE_INTERVAL_MS = 30_000
const LEASE_MS = 30_000
const PAYMENTS_PER_PAGE = 50
const PAGES_PER_ROUND_MAX = 20

/** Finds out what became of payments that nobody drives on (D23). Of all processes, the one with the lease does it. */
export function reconcilePayments(ctx: Context, { holder }: { holder: string }): Loop {
  const lease = 'reconcile'
  const run = async (intervalMs: number, list: ListPayments, signal: AbortSignal): Promise<void> => {
    const now = ctx.clock.now()
    const until = new Date(now.getTime() + LEASE_MS)
    if (await ctx.db.write(takeLease(`${lease}:${intervalMs}`, holder, now, until))) await round(ctx, list, signal)
  }
  const options = { name: lease, logger: ctx.logger }
  const loops = [
    startLoop({ ...options, intervalMs: INTERVAL_MS }, (signal) =>
      run(INTERVAL_MS, (mode, after) => listWithoutHash(mode, ctx.clock.now(), after, PAYMENTS_PER_PAGE), signal),
    ),
    startLoop({ ...options, intervalMs: STALE_INTERVAL_MS }, (signal) => {
      const before = new Date(ctx.clock.now().getTime() - SETTLING_MS)
      return run(
        STALE_INTERVAL_MS,
        (mode, after) => listLongAwaitingChain(mode, before, after, PAYMENTS_PER_PAGE),
        signal,
      )
    }),
  ]
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
      for (const intervalMs of [INTERVAL_MS, STALE_INTERVAL_MS]) {
        await ctx.db.write(giveBackLease(`${lease}:${intervalMs}`, holder))
      }
    },
  }
}

type ListPayments = (mode: Payment['mode'], after: Payment | null) => Query<Payment[]>

async function round(ctx: Context, list: ListPayments, signal: AbortSignal): Promise<void> {
  for (const mode of MODES) {
    let last: Payment | null = null
    for (let page = 0; page < PAGES_PER_ROUND_MAX && !signal.aborted; page += 1) {
      const payments: Payment[] = await ctx.db.read(list(mode, last))
      for (const payment of payments) {
        if (signal.aborted) return
        await reconcilePayment(ctx, { payment })
      }
      last = payments.at(-1) ?? null
      if (payments.length < PAYMENTS_PER_PAGE) break
    }
  }
}
