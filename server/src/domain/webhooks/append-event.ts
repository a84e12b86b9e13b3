import type { Query } from '../../db/query.ts'
import type { DomainEvent } from '../events/event.ts'
import { insertEvents } from '../events/events-store.ts'
import { insertDeliveries } from './deliveries-store.ts'

/**
 * Returns the queries that insert an event, and a delivery for each endpoint that is subscribed to it now.
 *
 * The caller must run them in the transaction of the change that the event reports (D43). If the transaction rolls
 * back, nothing is sent. If it commits, no event is missed. This costs no extra round trip.
 */
export function appendEvent(event: DomainEvent): readonly [Query<number>, Query<number>] {
  return appendEvents([event])
}

/** Returns the queries of `appendEvent` for several events. There are as many statements as for one event. */
export function appendEvents(events: readonly DomainEvent[]): readonly [Query<number>, Query<number>] {
  return [insertEvents(events), insertDeliveries(events)]
}
