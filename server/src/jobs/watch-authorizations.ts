import { listDueAuthorizations, postponeLookups } from '../domain/payments/authorizations-store.ts'
import { nextAuthorizationLookupAt } from '../domain/payments/authorizations/authorization-lookup-schedule.ts'
import { settleAuthorizations } from '../domain/payments/authorizations/settle-authorizations.ts'
import type { Context } from '../domain/context.ts'
import type { Payment } from '../domain/payments/payment.ts'
import { endPaymentWaits } from '../domain/reconciliation/wait-for-payment.ts'
import type { Loop } from '../lib/loop.ts'
import type { Mode } from '../values/mode.ts'
import { startLeasedLoop } from './start-leased-loop.ts'

/**
 * A shorter interval would cause more requests to nodes. A page normally needs two requests, however many purchases it
 * has.
 */
const INTERVAL_MS = 1_000
const LEASE_MS = 30_000
const PURCHASES_PER_PAGE = 100
/**
 * How many pages one round reads. Each look-up of a purchase postpones its next look-up, so the next round continues
 * with other purchases.
 */
const PAGES_PER_ROUND_MAX = 5

/**
 * Reads from the chain what became of the authorizations of pending purchases, and settles these purchases. Does this
 * for one mode, in the one process that has the lease. Calls nodes only while purchases are pending.
 */
export function watchAuthorizations(ctx: Context, { mode, holder }: { mode: Mode; holder: string }): Loop {
  const options = { name: `authorizations:${mode}`, holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS }
  return startLeasedLoop(ctx, options, async (signal, renewLease) => {
    for (let page = 0; page < PAGES_PER_ROUND_MAX && !signal.aborted; page += 1) {
      if (page > 0 && !(await renewLease())) return
      const due = await ctx.db.read(listDueAuthorizations(mode, ctx.clock.now(), PURCHASES_PER_PAGE))
      if (due.length === 0) return
      await lookUp(ctx, mode, due)
      if (due.length < PURCHASES_PER_PAGE) return
    }
  })
}

/**
 * Settles a page of purchases. Postpones their next look-up even if the chain cannot be read, so the next round takes
 * other purchases.
 */
async function lookUp(ctx: Context, mode: Mode, due: readonly Payment[]): Promise<void> {
  let settled = due
  try {
    settled = await settleAuthorizations(ctx, { mode, payments: due })
    endPaymentWaits(ctx, settled)
  } finally {
    const now = ctx.clock.now()
    const lookups = settled.map((payment) => ({ payment, nextLookupAt: nextAuthorizationLookupAt(payment, now) }))
    await ctx.db.write(postponeLookups(lookups.filter(({ payment }) => payment.status === 'pending')))
  }
}
