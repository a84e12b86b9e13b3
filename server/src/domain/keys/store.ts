import { changed, firstOrNull, type Query, type Row } from '../../db/query.ts'
import type { Bucket, RateState } from '../../limiter/bucket.ts'
import { COUNT_REQUEST, countValues, readCounted } from '../../limiter/store.ts'
import { toPlan } from '../accounts/store.ts'
import type { Plan } from '../plans/plan.ts'
import type { ApiKey } from './api-key.ts'

const COLUMNS = 'id, account_id, mode, secret_hash, created_at, grace_until, revoked_at'

export interface KeyHolder {
  readonly key: Pick<ApiKey, 'id' | 'accountId' | 'mode' | 'graceUntil' | 'revokedAt'>
  readonly account: { readonly slug: string; readonly name: string; readonly plan: Plan }
}

export function insertKey(key: ApiKey): Query<boolean> {
  return {
    name: 'insert_api_key',
    text: `insert into api_keys (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [key.id, key.accountId, key.mode, key.secretHash, key.createdAt, key.graceUntil, key.revokedAt],
    read: changed,
  }
}

/**
 * Who holds the key with this hash, and the count of this request in its bucket (null when it was turned away).
 * By `api_keys_by_secret_hash` and primary keys.
 */
export function countKeyRequest(
  secretHash: Buffer,
  bucket: Bucket,
  now: Date,
): Query<(KeyHolder & { rate: RateState | null }) | null> {
  return {
    name: 'count_key_request',
    text: `with counted as (${COUNT_REQUEST})
      select k.id, k.account_id, k.mode, k.grace_until, k.revoked_at, a.slug, a.name, a.plan,
        (select hits from counted) as hits
      from api_keys k join accounts a on a.id = k.account_id where k.secret_hash = $1`,
    values: countValues(secretHash, bucket, now),
    read: firstOrNull((row) => ({
      key: {
        id: row['id'],
        accountId: row['account_id'],
        mode: row['mode'],
        graceUntil: row['grace_until'],
        revokedAt: row['revoked_at'],
      },
      account: { slug: row['slug'], name: row['name'], plan: toPlan(row['plan']) },
      rate: readCounted(row['hits'], bucket, now),
    })),
  }
}

/** Starts the grace of a key that has none yet and is not revoked; answers the key, or null when it can't be rotated. */
export function startGrace(secretHash: Buffer, graceUntil: Date): Query<ApiKey | null> {
  return {
    name: 'start_key_grace',
    text: `update api_keys set grace_until = $2
      where secret_hash = $1 and grace_until is null and revoked_at is null returning ${COLUMNS}`,
    values: [secretHash, graceUntil],
    read: firstOrNull(toKey),
  }
}

/** Revokes at once; false when there was nothing to revoke. */
export function revokeKeyRow(secretHash: Buffer, now: Date): Query<boolean> {
  return {
    name: 'revoke_api_key',
    text: 'update api_keys set revoked_at = $2 where secret_hash = $1 and revoked_at is null',
    values: [secretHash, now],
    read: changed,
  }
}

/** By `api_keys_by_secret_hash`. */
export function findKey(secretHash: Buffer): Query<ApiKey | null> {
  return {
    name: 'find_api_key',
    text: `select ${COLUMNS} from api_keys where secret_hash = $1`,
    values: [secretHash],
    read: firstOrNull(toKey),
  }
}

function toKey(row: Row): ApiKey {
  return {
    id: row['id'],
    accountId: row['account_id'],
    mode: row['mode'],
    secretHash: row['secret_hash'],
    createdAt: row['created_at'],
    graceUntil: row['grace_until'],
    revokedAt: row['revoked_at'],
  }
}
