import { changed, firstOrNull, type Query } from './query.ts'
import { tables } from './tables.ts'

/** Uses the primary key. */
export function findServerKey(name: string): Query<Buffer | null> {
  return {
    name: 'find_server_key',
    text: 'select key_sealed from server_keys where name = $1',
    values: [name],
    read: firstOrNull({ key_sealed: tables.server_keys.key_sealed }, (row) => row.key_sealed),
  }
}

/** Stores a key, unless another process has stored one of this name. */
export function insertServerKey(name: string, sealed: Buffer, now: Date): Query<boolean> {
  return {
    name: 'insert_server_key',
    text: 'insert into server_keys (name, key_sealed, created_at) values ($1, $2, $3) on conflict do nothing',
    values: [name, sealed, now],
    read: changed,
  }
}
