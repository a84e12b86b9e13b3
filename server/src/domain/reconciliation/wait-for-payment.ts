import { SharedPoll } from '../../lib/shared-poll.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { getPayment } from '../payments/get-payment.ts'
import type { Payment } from '../payments/payment.ts'
import { listSettled } from './reconciliation-store.ts'
import { refreshPayment } from './refresh-payment.ts'

/** How long a caller may wait at most, in seconds (D57). Proxies and clients often give up after 60 seconds. */
export const PAYMENT_WAIT_SECONDS_MAX = 45
/**
 * The time between two polls of the database for the payments that callers of this process wait for. The watcher, which
 * settles most payments, reads the chain at the same interval.
 */
const POLL_INTERVAL_MS = 400

/** Opens the poll for the payments that the callers of a process wait for. */
export function openPaymentWaits({ db, logger, pools }: Pick<Context, 'db' | 'logger' | 'pools'>): SharedPoll {
  return new SharedPoll({
    name: 'payment-waits',
    intervalMs: POLL_INTERVAL_MS,
    places: pools.paymentWaits,
    logger,
    poll: (keys) => db.read(listSettled(keys)),
  })
}

/**
 * Returns a payment as soon as it is settled (confirmed or failed), whichever process settles it. After `waitMs`, or if
 * `signal` is aborted, returns it as it stands (D57). If too many callers wait already, also returns it as it stands,
 * at once. Before the wait, a pending payment is settled from the chain if possible, as `refreshPayment` does. The wait
 * holds no database connection. Throws 404 `not_found`.
 */
export async function waitForPayment(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'logger' | 'measurements' | 'paymentReads' | 'paymentWaits'>,
  {
    waitMs,
    signal,
    onWait,
    ...place
  }: {
    workspaceId: string
    mode: Mode
    id: string
    /** Finds only payments that an agent requested. */
    ofAgents?: boolean
    /** At most `PAYMENT_WAIT_SECONDS_MAX` seconds, counted from the call. */
    waitMs: number
    /** Aborted if nobody needs the result any more, or if the service stops. */
    signal: AbortSignal
    /** Called when the wait begins. From then on, the caller uses almost no resources. */
    onWait?: (() => void) | undefined
  },
): Promise<Payment> {
  const startedAt = ctx.clock.now()
  const payment = await refreshPayment(ctx, place)
  if (waitMs <= 0 || payment.status !== 'pending') return payment
  const spentMs = Math.max(0, ctx.clock.now().getTime() - startedAt.getTime())
  const msMax = Math.min(waitMs, PAYMENT_WAIT_SECONDS_MAX * 1_000) - spentMs
  await ctx.paymentWaits.wait({ group: place.workspaceId, id: place.id }, { msMax, signal, onWait })
  return await getPayment(ctx, place)
}

/**
 * Ends the waits of this process for those of the given payments that are settled, so that the callers need not wait
 * for the next poll. To be called after the outcome is stored.
 */
export function endPaymentWaits({ paymentWaits }: Pick<Context, 'paymentWaits'>, payments: readonly Payment[]): void {
  const settled = payments.filter(({ status }) => status !== 'pending')
  paymentWaits.end(settled.map(({ workspaceId, id }) => ({ group: workspaceId, id })))
}
