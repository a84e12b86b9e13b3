import type { Context } from '../context.ts'
import { cancelDeliveries, type EndpointKey } from './queue-store.ts'

const CANCELED_PER_ROUND = 1_000
const ROUNDS_MAX = 20

/**
 * Cancels an endpoint's pending deliveries, or only those due before `dueBefore`, at most about 20,000. Returns how
 * many.
 */
export async function cancelPendingDeliveries(
  ctx: Pick<Context, 'db' | 'clock'>,
  { endpoint, dueBefore }: { endpoint: EndpointKey; dueBefore: Date | null },
): Promise<number> {
  let canceled = 0
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const cancel = cancelDeliveries(endpoint, { now: ctx.clock.now(), dueBefore }, CANCELED_PER_ROUND)
    // In a transaction, because that is retried after a deadlock with a sender that finishes some of these deliveries
    // meanwhile.
    const [count] = await ctx.db.transaction((transaction) => transaction.commit([cancel] as const))
    canceled += count
    if (count < CANCELED_PER_ROUND) break
  }
  return canceled
}
