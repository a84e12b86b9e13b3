import pg from 'pg'
import { BUCKETS } from '../server/src/limiter/bucket.ts'
import { createApiKeySecret } from '../server/src/values/api-key.ts'
import { createId } from '../server/src/values/ids.ts'
import { hashSecret } from '../server/src/values/secret.ts'
import { paymentSeries, readSeries } from './cases/reads.ts'
import { postPayment, shareOrders, type Length } from './cases/requests.ts'
import { chooseTargets, generateScale } from './generate-scale.ts'
import { measureAll, sendLoad, type Series } from './measure.ts'
import { report, say } from './report.ts'
import { openWorld, type Endpoint, type World } from './world.ts'

/**
 * `npm run bench:scale [-- sizes]` measures reads and payments with 0 and with 1 million payments in the database, or
 * with the given numbers. The first size is also measured with several servers. Each measurement has its own floors.
 */
const SIZES = [0, 1_000_000]
const TARGETS = 4_000
const AGENTS = 100_000
const PENDING = 100_000
const BUSY_PAYMENTS = 43_200
const BUSY_KEYS = 1_000
const PROCESSES = [1, 2, 4] as const
const LENGTH: Length = { seconds: 3 }
const ROUNDS = 3

const given = process.argv.slice(2).map(Number)
if (given.some((size) => !Number.isSafeInteger(size) || size < 0)) throw new Error('a size is a number of payments')
for (const [index, payments] of (given.length > 0 ? given : SIZES).entries()) {
  await measureSize(payments, index === 0 ? PROCESSES : [1])
}

async function measureSize(payments: number, counts: readonly number[]): Promise<void> {
  const world = await openWorld({ targets: TARGETS })
  try {
    if (payments > 0) {
      const started = performance.now()
      const scale = { payments, agents: AGENTS, pending: PENDING, busy: BUSY_PAYMENTS }
      await generateScale(world.databaseUrl, { targets: world.targets, scale, now: new Date() })
      say(`generated ${payments} payments in ${Math.round((performance.now() - started) / 1_000)} s`)
    }
    const endpoints: Endpoint[] = []
    for (const count of counts) {
      while (endpoints.length < count) endpoints.push(await world.startServer())
      const series = await scaleSeries(world, endpoints)
      say(`# ${payments} payments, ${count} servers`)
      report(series, await measureAll(world, series, { rounds: ROUNDS, onRound: say }))
    }
  } finally {
    await world.close()
  }
}

/** Returns the series of reads, of payments by many agents, and of payments by one agent that has paid very often. */
async function scaleSeries(world: World, endpoints: readonly Endpoint[]): Promise<readonly Series[]> {
  const payments = await paymentSeries(world, LENGTH, endpoints)
  const { busy } = chooseTargets(world.targets)
  const keys = await seedKeys(world.databaseUrl, busy.workspaceId, BUSY_KEYS)
  const requests = keys.map((key) => postPayment({ ...busy, key }))
  const floors = payments.filter(({ kind }) => kind === 'floor').map(({ name }) => name)
  return [
    ...(await readSeries(world, LENGTH, endpoints)),
    ...payments,
    {
      name: 'POST /v1/payments, all of one agent',
      kind: 'ours',
      floors,
      endpoints,
      prepare: sendLoad(async () => shareOrders(endpoints, requests, LENGTH)),
    },
  ]
}

/** Creates more API keys of one workspace, so that its load is not limited by the rate limit of a single key. */
async function seedKeys(databaseUrl: string, workspaceId: string, count: number): Promise<string[]> {
  const now = new Date()
  const keys = Array.from({ length: count }, () => createApiKeySecret('test'))
  const rows = keys.map((key) => ({ id: createId('key', now), hash: hashSecret(key).toString('hex') }))
  const source = 'jsonb_to_recordset($1::jsonb) as t (id text, hash text)'
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(
    `insert into api_keys (workspace_id, id, mode, secret_hash, last4, created_at)
      select $2, id, 'test', decode(hash, 'hex'), 'abcd', $3 from ${source}`,
    [JSON.stringify(rows), workspaceId, now],
  )
  await client.query(
    `insert into rate_windows (subject, bucket) select decode(hash, 'hex'), bucket from ${source}, unnest($2::text[]) bucket`,
    [JSON.stringify(rows), Object.keys(BUCKETS)],
  )
  await client.end()
  return keys
}
