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
  /** Created at this time or later. */
  readonly from?: Date | undefined
  /** Created before this time. */
  readonly to?: Date | undefined
}

/** Sorts above all delivery ids for the next thousands of years, because ids begin with the digits of their time. */
const NEWEST = 'dlv_Z'
const OLDEST = 'dlv_'

/**
 * Lists the deliveries of the (account, mode), newest first and at most `limit`. If `before` is given, only deliveries
 * older than that one. Deliveries that finished more than 30 days ago have been deleted.
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
