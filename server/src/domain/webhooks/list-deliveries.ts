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

/**
 * Sorts after every delivery id. In an id, `dlv_` is followed by the encoded time, whose first character does not reach
 * `Z` for thousands of years.
 */
const NEWEST = 'dlv_Z'
const OLDEST = 'dlv_'

/**
 * Lists at most `limit` deliveries of the workspace and mode, newest first. If `before` is given, lists only deliveries
 * older than the one with that id. Deliveries that finished more than 30 days ago are missing, because the clean-up job
 * deletes them.
 */
export async function listDeliveries(
  ctx: Pick<Context, 'db'>,
  request: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly filter: DeliveryFilter
    readonly before: string | null
    readonly limit: number
  },
): Promise<Delivery[]> {
  const { workspaceId, mode, filter, before, limit } = request
  const upTo = filter.to === undefined ? NEWEST : idBoundary('delivery', filter.to)
  const range = {
    endpointId: filter.endpointId ?? null,
    eventId: filter.eventId ?? null,
    eventType: filter.eventType ?? null,
    status: filter.status ?? null,
    from: filter.from === undefined ? OLDEST : idBoundary('delivery', filter.from),
    below: before !== null && before < upTo ? before : upTo,
  }
  return await ctx.db.readSlow(listDeliveryRows(workspaceId, mode, range, limit), workspaceId)
}
