import type { Context } from '../domain/context.ts'
import { nameInLog, type Payment } from '../domain/payments/payment.ts'
import { reconcilePayment } from '../domain/reconciliation/reconcile-payment.ts'
import { listDueForLookup } from '../domain/reconciliation/reconciliation-store.ts'
import type { Loop } from '../lib/loop.ts'
import { MODES, type Mode } from '../values/mode.ts'
import { startLeasedLoop } from './start-leased-loop.ts'

const INTERVAL_MS = 1_000
const LEASE_MS = 30_000
const PAYMENTS_PER_PAGE = 20
/**
 * How many pages of payments one round reads. Each look-up of a payment postpones its next look-up, so the next round
 * continues with other payments.
 */
const PAGES_PER_ROUND_MAX = 20
/** After this many failures in a row we assume that the enclave or the chain is down, and end the round. */
const FAILURES_IN_A_ROW_MAX = 3

/** Runs the reconciler: it finds out what happened to pending payments that no request is waiting for (D23). */
export function reconcilePayments(ctx: Context, { holder }: { holder: string }): Loop {
  const loops = MODES.map((mode) => startReconciler(ctx, { mode, holder }))
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

function startReconciler(ctx: Context, { mode, holder }: { mode: Mode; holder: string }): Loop {
  const options = { name: `reconcile:${mode}`, holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS }
  return startLeasedLoop(ctx, options, async (signal, renewLease) => {
    for (let page = 0; page < PAGES_PER_ROUND_MAX && !signal.aborted; page += 1) {
      if (page > 0 && !(await renewLease())) return
      const payments = await ctx.db.read(listDueForLookup(mode, ctx.clock.now(), PAYMENTS_PER_PAGE))
      await reconcilePage(ctx, payments, signal)
      if (payments.length < PAYMENTS_PER_PAGE) return
    }
  })
}

/** Reconciles a page of payments. If one payment fails, continues with the next. */
async function reconcilePage(ctx: Context, payments: readonly Payment[], signal: AbortSignal): Promise<void> {
  let failures = 0
  for (const payment of payments) {
    if (signal.aborted) return
    try {
      await reconcilePayment(ctx, { payment })
      failures = 0
    } catch (error) {
      failures += 1
      ctx.logger.warn({ err: error, ...nameInLog(payment) }, 'a payment could not be reconciled')
      if (failures >= FAILURES_IN_A_ROW_MAX) throw error
    }
  }
}
