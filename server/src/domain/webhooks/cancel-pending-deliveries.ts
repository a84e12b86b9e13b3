import type { Context } from '../context.ts'
import { cancelDeliveries } from './clean-up-store.ts'
import type { EndpointKey } from './queue-store.ts'

const CANCELED_PER_ROUND = 1_000
const ROUNDS_MAX = 20

/**
 * Cancels an endpoint's pending deliveries. If `dueBefore` is given, cancels only those that are due before it. Cancels
 * at most about 20,000, and returns how many.
 */
export async function cancelPendingDeliveries(
  ctx: Pick<Context, 'db' | 'clock'>,
  { endpoint, dueBefore }: { endpoint: EndpointKey; dueBefore: Date | null },
): Promise<number> {
  let canceled = 0
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const cancel = cancelDeliveries(endpoint, { now: ctx.clock.now(), dueBefore }, CANCELED_PER_ROUND)
    // A sender that finishes some of these deliveries at the same time can cause a deadlock. A transaction is retried
    // after a deadlock, a single statement is not.
    const [count] = await ctx.db.transaction((transaction) => transaction.commit([cancel] as const))
    canceled += count
    if (count < CANCELED_PER_ROUND) break
  }
  return canceled
}
