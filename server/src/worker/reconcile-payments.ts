import { giveBackLease } from '../db/leases.ts'
import type { Query } from '../db/query.ts'
import type { Context } from '../domain/context.ts'
import { SETTLING_MS, type Payment } from '../domain/payments/payment.ts'
import { reconcilePayment } from '../domain/payments/reconcile-payment.ts'
import { listLongAwaitingChain, listWithoutHash } from '../domain/payments/store.ts'
import { takeLeaseNow } from '../domain/take-lease-now.ts'
import { startLoop, type Loop } from '../lib/loop.ts'
import { MODES, type Mode } from '../values/mode.ts'

const INTERVAL_MS = 1_000
/** What has a hash, and waits for the chain past the settling time, is asked about less often. */
const STALE_INTERVAL_MS = 30_000
const LEASE_MS = 30_000
const PAYMENTS_PER_PAGE = 20
/** A round asks about so many payments at the most; the next one goes on where it ended. */
const PAGES_PER_ROUND_MAX = 20
/** After so many failures in a row the enclave is taken to be away, and the round ends. */
const FAILURES_IN_A_ROW_MAX = 3

/** Finds out what became of payments that nobody drives on (D23). Of all processes, the one with the lease does it. */
export function reconcilePayments(ctx: Context, { holder }: { holder: string }): Loop {
  const loops = MODES.flatMap((mode) => [
    startReconciler(ctx, { name: `reconcile:${mode}`, holder, intervalMs: INTERVAL_MS }, (after) =>
      listWithoutHash(mode, ctx.clock.now(), after, PAYMENTS_PER_PAGE),
    ),
    startReconciler(ctx, { name: `reconcile-stale:${mode}`, holder, intervalMs: STALE_INTERVAL_MS }, (after) =>
      listLongAwaitingChain(mode, settledBefore(ctx), after, PAYMENTS_PER_PAGE),
    ),
  ])
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

type ListPayments = (after: Payment | null) => Query<Payment[]>

function startReconciler(
  ctx: Context,
  { name, holder, intervalMs }: { name: `reconcile${'' | '-stale'}:${Mode}`; holder: string; intervalMs: number },
  list: ListPayments,
): Loop {
  let last: Payment | null = null
  const round = async (signal: AbortSignal): Promise<void> => {
    for (let page = 0; page < PAGES_PER_ROUND_MAX && !signal.aborted; page += 1) {
      if (!(await takeLeaseNow(ctx, { name, holder, leaseMs: LEASE_MS }))) return
      const payments: Payment[] = await ctx.db.read(list(last))
      await reconcilePage(ctx, payments, signal)
      last = payments.length < PAYMENTS_PER_PAGE ? null : (payments.at(-1) ?? null)
      if (last === null) return
    }
  }
  const loop = startLoop({ name, intervalMs, logger: ctx.logger }, round)
  return {
    async stop() {
      await loop.stop()
      await ctx.db.write(giveBackLease(name, holder))
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

function settledBefore(ctx: Context): Date {
  return new Date(ctx.clock.now().getTime() - SETTLING_MS)
}
