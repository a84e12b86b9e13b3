import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { isDeliveryId, type Delivery, type DeliveryAttempt } from './delivery.ts'
import { findDelivery, listAttempts } from './deliveries-store.ts'

/** A delivery of the account with its attempts, oldest first, or 404 `delivery_not_found`. */
export async function getDelivery(
  ctx: Pick<Context, 'db'>,
  { accountId, id }: { accountId: string; id: string },
): Promise<{ delivery: Delivery; attempts: DeliveryAttempt[] }> {
  if (!isDeliveryId(id)) throw problem('delivery_not_found')
  const [delivery, attempts] = await ctx.db.runRelaxedPair(findDelivery(accountId, id), listAttempts(accountId, id))
  if (delivery === null) throw problem('delivery_not_found')
  return { delivery, attempts }
}
