import { giveBackLease, takeLease } from '../db/leases.ts'
import type { Context } from '../domain/context.ts'
import type { Payment } from '../domain/payments/payment.ts'
import { settlePayments } from '../domain/payments/settle-payments.ts'
import { listAwaitingChain } from '../domain/payments/store.ts'
import { startLoop, type Loop } from '../lib/loop.ts'
import type { Mode } from '../values/mode.ts'

const INTERVAL_MS = 400
const LEASE_MS = 10_000
const PAYMENTS_PER_PAGE = 200
/** A round looks at so many payments at the most; the oldest come first, the rest waits for the next round. */
const PAGES_PER_ROUND_MAX = 50

/** Settles the payments of one mode as their chain confirms them. Of all processes, the one with the lease does it. */
export function watchChain(ctx: Context, { mode, holder }: { mode: Mode; holder: string }): Loop {
  const lease = `watch:${mode}`
  const loop = startLoop({ name: lease, intervalMs: INTERVAL_MS, logger: ctx.logger }, async (signal) => {
    const now = ctx.clock.now()
    if (await ctx.db.write(takeLease(lease, holder, now, new Date(now.getTime() + LEASE_MS)))) {
      await settleRound(ctx, { mode, signal })
    }
  })
  return {
    async stop() {
      await loop.stop()
      await ctx.db.write(giveBackLease(lease, holder))
    },
  }
}

async function settleRound(ctx: Context, { mode, signal }: { mode: Mode; signal: AbortSignal }): Promise<void> {
  let last: Payment | null = null
  for (let page = 0; page < PAGES_PER_ROUND_MAX && !signal.aborted; page += 1) {
    const payments: Payment[] = await ctx.db.read(listAwaitingChain(mode, last, PAYMENTS_PER_PAGE))
    await settlePayments(ctx, { mode, payments })
    last = payments.at(-1) ?? null
    if (payments.length < PAYMENTS_PER_PAGE) return
  }
}
