import { isId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { findDelivery, listAttempts } from './deliveries-store.ts'
import { isDeliveryId, type Delivery, type DeliveryAttempt } from './delivery.ts'
import { listDeliverySummaries, type DeliverySummary } from './delivery-summaries-store.ts'
import type { WebhookEndpoint } from './endpoint.ts'
import { findEndpoint, listEndpointRows } from './endpoints-store.ts'

/** Returns an endpoint of the workspace, without its secret, or throws 404 `webhook_not_found`. */
export async function getEndpoint(
  ctx: Pick<Context, 'db'>,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<WebhookEndpoint> {
  const endpoint = isId('endpoint', id) ? await ctx.db.read(findEndpoint(workspaceId, id)) : null
  if (endpoint === null) throw problem('webhook_not_found')
  return endpoint
}

/** Lists the endpoints of the workspace and mode, oldest first, without their secrets. */
export async function listEndpoints(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode }: { workspaceId: string; mode: Mode },
): Promise<WebhookEndpoint[]> {
  return await ctx.db.read(listEndpointRows(workspaceId, mode))
}

/** Returns a delivery of the workspace with its attempts, oldest first, or throws 404 `delivery_not_found`. */
export async function getDelivery(
  ctx: Pick<Context, 'db'>,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<{ delivery: Delivery; attempts: DeliveryAttempt[] }> {
  if (!isDeliveryId(id)) throw problem('delivery_not_found')
  const [delivery, attempts] = await ctx.db.read([findDelivery(workspaceId, id), listAttempts(workspaceId, id)])
  if (delivery === null) throw problem('delivery_not_found')
  // The attempts are read after the delivery. An attempt that ended in between is left out, because `delivery.attempts`
  // does not count it yet.
  return { delivery, attempts: attempts.filter(({ number }) => number <= delivery.attempts) }
}

/** Returns what a list says about each delivery beside the delivery itself, by the id of the delivery. */
export async function describeDeliveries(
  ctx: Pick<Context, 'db'>,
  { workspaceId, deliveries }: { workspaceId: string; deliveries: readonly Delivery[] },
): Promise<ReadonlyMap<string, DeliverySummary>> {
  if (deliveries.length === 0) return new Map()
  const summaries = await ctx.db.readSlow(listDeliverySummaries(workspaceId, deliveries), workspaceId)
  return new Map(summaries.map((summary) => [summary.deliveryId, summary]))
}
