import type { Replacement } from '../lib/sealing.ts'
import { computed, nullable, pick } from './column.ts'
import { all, changed, firstOrNull, type Query } from './query.ts'
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

/**
 * Lists keys in the order of their names. A key is null if it begins with the mark of the newest encryption key. Uses the
 * primary key.
 */
export function pageServerKeys(
  after: string,
  mark: Buffer,
  rowsMax: number,
): Query<{ name: string; key: Buffer | null }[]> {
  return {
    name: 'page_server_keys',
    text: `select name, case when substring(key_sealed for $3) <> $2 then key_sealed end as key
      from server_keys where name > $1 order by name limit $4`,
    values: [after, mark, mark.length, rowsMax],
    read: all({ ...pick(tables.server_keys, 'name'), key: nullable(computed.bytea) }, ({ name, key }) => ({
      name,
      key,
    })),
  }
}

export function replaceServerKey(name: string, key: Replacement): Query<boolean> {
  return {
    name: 'replace_server_key',
    text: 'update server_keys set key_sealed = $3 where name = $1 and key_sealed = $2',
    values: [name, key?.old, key?.new],
    read: changed,
  }
}

/** Deletes a key that cannot be decrypted, so that a new one is made. Uses the primary key. */
export function deleteServerKey(name: string): Query<boolean> {
  return {
    name: 'delete_server_key',
    text: 'delete from server_keys where name = $1',
    values: [name],
    read: changed,
  }
}
