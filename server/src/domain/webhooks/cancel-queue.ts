import type { Context } from '../context.ts'
import { cancelDeliveries, type EndpointKey } from './queue-store.ts'

const CANCELED_PER_ROUND = 1_000
const ROUNDS_MAX = 20

/**
 * Cancels an endpoint's pending deliveries, or only those due before a time, some 20,000 at the most; answers
 * how many.
 */
export async function cancelQueue(
  ctx: Pick<Context, 'db' | 'clock'>,
  { endpoint, dueBefore }: { endpoint: EndpointKey; dueBefore: Date | null },
): Promise<number> {
  let canceled = 0
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const cancel = cancelDeliveries(endpoint, { now: ctx.clock.now(), dueBefore }, CANCELED_PER_ROUND)
    // As a transaction it is run again after a deadlock with whoever finishes these meanwhile.
    const [count] = await ctx.db.transaction((transaction) => transaction.commit([cancel] as const))
    canceled += count
    if (count < CANCELED_PER_ROUND) break
  }
  return canceled
}
