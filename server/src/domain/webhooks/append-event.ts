import type { Query } from '../../db/query.ts'
import type { DomainEvent } from '../events/event.ts'
import { insertEvent } from '../events/events-store.ts'
import { insertDeliveries } from './deliveries-store.ts'

/**
 * Writes an event, and a delivery for each endpoint that wants it now. Both belong into the batch that commits what
 * makes the event true (D43): then none is forgotten, none is sent of what was undone, and it costs no round trip.
 */
export function appendEvent(event: DomainEvent): readonly [Query<boolean>, Query<number>] {
  return [insertEvent(event), insertDeliveries(event)]
}
