import { changed, type Query } from '../../db/query.ts'
import type { DomainEvent } from './event.ts'

/** The members of an event in the order of the `insert`'s columns, for statements that write one beside their fact. */
export const EVENT_COLUMNS = 'account_id, id, mode, type, created_at, data'

export function eventValues(event: DomainEvent): unknown[] {
  return [event.accountId, event.id, event.mode, event.type, event.createdAt, JSON.stringify(event.data)]
}

/** Belongs into the transaction that makes the event true (D43). */
export function insertEvent(event: DomainEvent): Query<boolean> {
  return {
    name: 'insert_event',
    text: `insert into events (${EVENT_COLUMNS}) values ($1, $2, $3, $4, $5, $6)`,
    values: eventValues(event),
    read: changed,
  }
}
