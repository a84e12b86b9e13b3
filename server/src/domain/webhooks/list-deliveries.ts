import { idBoundary } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { EventType } from '../events/event.ts'
import type { Delivery, DeliveryStatus } from './delivery.ts'
import { listDeliveryRows } from './deliveries-store.ts'

export interface DeliveryFilter {
  readonly endpointId?: string | undefined
  readonly eventType?: EventType | undefined
  readonly status?: DeliveryStatus | undefined
  readonly eventId?: string | undefined
  /** Made at this time or later. */
  readonly from?: Date | undefined
  /** Made before this time. */
  readonly to?: Date | undefined
}

/** Above every id of a delivery: ids begin with their time, whose first digit stays low for thousands of years. */
const NEWEST = 'dlv_Z'
const OLDEST = 'dlv_'

/**
 * The delivery log of an (account, mode), newest first, `limit` at the most, before the delivery `before` where one is
 * given. What finished more than 30 days ago is gone.
 */
export async function listDeliveries(
  ctx: Pick<Context, 'db'>,
  request: {
    readonly accountId: string
    readonly mode: Mode
    readonly filter: DeliveryFilter
    readonly before: string | null
    readonly limit: number
  },
): Promise<Delivery[]> {
  const { accountId, mode, filter, before, limit } = request
  const upTo = filter.to === undefined ? NEWEST : idBoundary('delivery', filter.to)
  const range = {
    endpointId: filter.endpointId ?? null,
    eventId: filter.eventId ?? null,
    eventType: filter.eventType ?? null,
    status: filter.status ?? null,
    from: filter.from === undefined ? OLDEST : idBoundary('delivery', filter.from),
    below: before !== null && before < upTo ? before : upTo,
  }
  return await ctx.db.runSlow(listDeliveryRows(accountId, mode, range, limit))
}
