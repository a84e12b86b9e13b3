import { giveBackLease } from '../db/leases.ts'
import type { Context } from '../domain/context.ts'
import type { Payment } from '../domain/payments/payment.ts'
import { reconcilePayment } from '../domain/payments/reconcile-payment.ts'
import { listDueForLook } from '../domain/payments/tracing/tracing-store.ts'
import { renewLease } from './renew-lease.ts'
import { startLoop, type Loop } from '../lib/loop.ts'
import { MODES, type Mode } from '../values/mode.ts'

const INTERVAL_MS = 1_000
const LEASE_MS = 30_000
const PAYMENTS_PER_PAGE = 20
/** A round looks up so many payments at the most. Each look puts the payment's next one off, so the next round goes on. */
const PAGES_PER_ROUND_MAX = 20
/** After so many failures in a row the provider or the chain is taken to be away, and the round ends. */
const FAILURES_IN_A_ROW_MAX = 3

/** Finds out what became of payments that nobody drives on (D23). Of all processes, the one with the lease does it. */
export function reconcilePayments(ctx: Context, { holder }: { holder: string }): Loop {
  const loops = MODES.map((mode) => startReconciler(ctx, { mode, holder }))
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

function startReconciler(ctx: Context, { mode, holder }: { mode: Mode; holder: string }): Loop {
  const name = `reconcile:${mode}`
  const round = async (signal: AbortSignal): Promise<void> => {
    for (let page = 0; page < PAGES_PER_ROUND_MAX && !signal.aborted; page += 1) {
      if (!(await renewLease(ctx, { name, holder, leaseMs: LEASE_MS }))) return
      const payments = await ctx.db.runRelaxed(listDueForLook(mode, ctx.clock.now(), PAYMENTS_PER_PAGE))
      await reconcilePage(ctx, payments, signal)
      if (payments.length < PAYMENTS_PER_PAGE) return
    }
  }
  const loop = startLoop({ name, intervalMs: INTERVAL_MS, logger: ctx.logger }, round)
  return {
    async stop() {
      await loop.stop()
      await ctx.db.runDurable(giveBackLease(name, holder))
    },
  }
}

/** One payment that can't be reconciled does not keep the others. */
async function reconcilePage(ctx: Context, payments: readonly Payment[], signal: AbortSignal): Promise<void> {
  let failures = 0
  for (const payment of payments) {
    if (signal.aborted) return
    try {
      await reconcilePayment(ctx, { payment })
      failures = 0
    } catch (error) {
      failures += 1
      ctx.logger.warn({ err: error, payment: payment.id }, 'a payment could not be reconciled')
      if (failures >= FAILURES_IN_A_ROW_MAX) throw error
    }
  }
}
