import { pick } from '../../db/column.ts'
import { all, changed, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { EncryptionKey } from './encryption-key.ts'

/** Returns all keys that ever encrypted a stored secret. An installation has a few. */
export function listEncryptionKeys(): Query<EncryptionKey[]> {
  return {
    name: 'list_encryption_keys',
    text: 'select fingerprint, id, first_used_at, unused_since from encryption_keys order by first_used_at, fingerprint',
    values: [],
    read: all(pick(tables.encryption_keys, 'fingerprint', 'id', 'first_used_at', 'unused_since'), (row) => ({
      fingerprint: row.fingerprint,
      id: row.id,
      firstUsedAt: row.first_used_at,
      unusedSince: row.unused_since,
    })),
  }
}

/** Records that a key encrypts secrets from now on. */
export function recordEncryptionKey(fingerprint: string, id: string | null, now: Date): Query<boolean> {
  return {
    name: 'record_encryption_key',
    text: `insert into encryption_keys (fingerprint, id, first_used_at) values ($1, $2, $3)
      on conflict (fingerprint) do update set id = excluded.id, unused_since = null
        where (encryption_keys.id, encryption_keys.unused_since) is distinct from (excluded.id, null)`,
    values: [fingerprint, id, now],
    read: changed,
  }
}

/** Records that no stored secret needs these keys. Uses the primary key. */
export function recordUnusedKeys(keys: readonly EncryptionKey[], now: Date): Query<boolean> {
  return {
    name: 'record_unused_keys',
    text: 'update encryption_keys set unused_since = $2 where fingerprint = any ($1) and unused_since is null',
    values: [keys.map(({ fingerprint }) => fingerprint), now],
    read: changed,
  }
}
