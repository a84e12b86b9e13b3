import pg from 'pg'
import { createApiKeySecret } from '../server/src/values/api-key.ts'
import { createId } from '../server/src/values/ids.ts'
import { hashSecret } from '../server/src/values/secret.ts'
import { BUCKETS } from '../server/src/limiter/bucket.ts'

/** Creates more API keys of one workspace, so that its load is not limited by the rate limit of a single key. */
export async function seedKeys(databaseUrl: string, accountId: string, count: number): Promise<string[]> {
  const now = new Date()
  const keys = Array.from({ length: count }, () => createApiKeySecret('test'))
  const rows = keys.map((key) => ({ id: createId('key', now), hash: hashSecret(key).toString('hex') }))
  const source = 'jsonb_to_recordset($1::jsonb) as t (id text, hash text)'
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(
    `insert into api_keys (account_id, id, mode, secret_hash, created_at)
      select $2, id, 'test', decode(hash, 'hex'), $3 from ${source}`,
    [JSON.stringify(rows), accountId, now],
  )
  await client.query(
    `insert into rate_windows (subject, bucket) select decode(hash, 'hex'), bucket from ${source}, unnest($2::text[]) bucket`,
    [JSON.stringify(rows), Object.keys(BUCKETS)],
  )
  await client.end()
  return keys
}
