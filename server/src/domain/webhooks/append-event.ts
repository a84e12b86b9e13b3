import type { Query } from '../../db/query.ts'
import type { DomainEvent } from '../events/event.ts'
import { insertEvent } from '../events/events-store.ts'
import { insertDeliveries } from './deliveries-store.ts'

/**
 * Returns the queries that insert an event, and a delivery for each endpoint that is subscribed to it now.
 *
 * They belong in the transaction that makes the event true (D43): if it rolls back, nothing is sent, and if it commits,
 * no event is missed. This costs no extra round trip.
 */
export function appendEvent(event: DomainEvent): readonly [Query<boolean>, Query<number>] {
  return [insertEvent(event), insertDeliveries(event)]
}
