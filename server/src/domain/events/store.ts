import { changed, type Query } from '../../db/query.ts'
import type { DomainEvent } from './event.ts'

/** Belongs into the transaction that makes the event true (D43). */
export function insertEvent(event: DomainEvent): Query<boolean> {
  const { accountId, id, mode, type, createdAt, data } = event
  return {
    name: 'insert_event',
    text: 'insert into events (account_id, id, mode, type, created_at, data) values ($1, $2, $3, $4, $5, $6)',
    values: [accountId, id, mode, type, createdAt, JSON.stringify(data)],
    read: changed,
  }
}
