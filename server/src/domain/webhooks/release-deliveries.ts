import type { Context } from '../context.ts'
import type { ClaimedDelivery } from './delivery.ts'
import { releaseLease } from './queue-store.ts'

/** Gives back what was claimed and not tried, so that another worker can have it at once. */
export async function releaseDeliveries(ctx: Pick<Context, 'db'>, claimed: readonly ClaimedDelivery[]): Promise<void> {
  if (claimed.length === 0) return
  await ctx.db.transaction((transaction) => transaction.commit(claimed.map(releaseLease)))
}
