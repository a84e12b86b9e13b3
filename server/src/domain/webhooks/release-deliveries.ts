import type { Context } from '../context.ts'
import type { ClaimedDelivery } from './delivery.ts'
import { releaseDelivery } from './queue-store.ts'

/** Releases deliveries that were claimed but not tried, so that another worker can claim them at once. */
export async function releaseDeliveries(ctx: Pick<Context, 'db'>, claimed: readonly ClaimedDelivery[]): Promise<void> {
  if (claimed.length === 0) return
  await ctx.db.transaction((transaction) => transaction.commit(claimed.map(releaseDelivery)))
}
