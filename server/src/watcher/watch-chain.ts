import { giveBackLease } from '../db/leases.ts'
import type { Context } from '../domain/context.ts'
import type { Payment } from '../domain/payments/payment.ts'
import { takeLeaseNow } from '../domain/take-lease-now.ts'
import { settlePayments } from '../domain/payments/settle-payments.ts'
import { listAwaitingChain } from '../domain/payments/store.ts'
import { startLoop, type Loop } from '../lib/loop.ts'
import type { Mode } from '../values/mode.ts'

const INTERVAL_MS = 400
const LEASE_MS = 10_000
const PAYMENTS_PER_PAGE = 200
/**
 * A round looks at so many pages at the most, and the next one goes on where it ended: a chain that stands still, and
 * thousands that wait for it, must not keep the process from its requests.
 */
const PAGES_PER_ROUND_MAX = 5

/** Settles the payments of one mode as their chain confirms them. Of all processes, the one with the lease does it. */
export function watchChain(ctx: Context, { mode, holder }: { mode: Mode; holder: string }): Loop {
  const name = `watch:${mode}`
  let last: Payment | null = null
  const round = async (signal: AbortSignal): Promise<void> => {
    let failure: unknown
    for (let page = 0; page < PAGES_PER_ROUND_MAX && !signal.aborted; page += 1) {
      if (!(await takeLeaseNow(ctx, { name, holder, leaseMs: LEASE_MS }))) return
      const payments: Payment[] = await ctx.db.read(listAwaitingChain(mode, last, PAYMENTS_PER_PAGE))
      await settlePayments(ctx, { mode, payments }).catch((error: unknown) => {
        failure ??= error
      })
      last = payments.length < PAYMENTS_PER_PAGE ? null : (payments.at(-1) ?? null)
      if (last === null) break
    }
    if (failure !== undefined) throw failure
  }
  const loop = startLoop({ name, intervalMs: INTERVAL_MS, logger: ctx.logger }, round)
  return {
    async stop() {
      await loop.stop()
      await ctx.db.write(giveBackLease(name, holder))
    },
  }
}
