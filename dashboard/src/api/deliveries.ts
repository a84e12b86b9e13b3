import type { Delivery } from '@bursar/server/src/console/contract/deliveries.ts'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { liveKey } from './query-key.ts'
import { request } from './request.ts'

/** Sends a delivery's event to the same address again, as a new delivery. */
export async function replayDelivery(slug: string, id: string): Promise<Delivery> {
  const input = { params: { slug, id }, body: {} }
  return (await request('POST /console/workspaces/:slug/deliveries/:id/replay', input)).delivery
}

/** The beginning of the key of every query for deliveries. */
export function deliveriesKey(slug: string, mode: Mode) {
  return [...liveKey(slug, mode), 'deliveries'] as const
}
