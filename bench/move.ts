import pg from 'pg'
import { migrate } from '../server/src/db/migrate.ts'
import { createClock } from '../server/src/lib/clock.ts'
import { withCells } from '../server/src/move-workspace/cells.ts'
import { moveWorkspace, type MoveStep } from '../server/src/move-workspace/move-workspace.ts'
import { parseCell } from '../server/src/values/secret.ts'
import { generateScale } from './generate-scale.ts'
import { say } from './report.ts'
import { openWorld } from './world.ts'

/**
 * `npm run bench:move [-- sizes]` measures for how long a workspace responds with 503 while it moves to another cell on
 * the same database server. The sizes are numbers of payments. Each payment has two events, each of which was sent to an
 * endpoint; one payment of eight is a purchase.
 */
const SIZES = [5_000, 50_000]
/** `generateScale` shares payments among three workspaces. One of them moves. */
const WORKSPACES = 3
const CELL = parseCell('eu2')

type Row = Readonly<Record<string, unknown>>

/** Adds what a workspace has besides its payments. `$1` is its id. */
const BESIDES = [
  `insert into webhook_endpoints (workspace_id, id, mode, url, events, secret_sealed, created_at)
    values ($1, 'whk_bench', 'test', 'https://hooks.example/', '{payment.created}', 'x', now())`,
  `insert into events (workspace_id, id, mode, type, created_at, data, data_text)
    select workspace_id, 'evt_' || t || right(id, 26), 'test', 'payment.created', created_at, d.data, d.data::text
    from payments cross join generate_series(1, 2) t cross join lateral (
      select jsonb_build_object('payment', jsonb_build_object('id', id, 'agent_id', agent_id, 'to', to_address,
        'wallet', wallet_address, 'amount_usdc', amount_usdc, 'status', status, 'tx_hash', tx_hash)) as data) d
    where workspace_id = $1`,
  `insert into deliveries (workspace_id, id, mode, endpoint_id, event_id, event_type, trigger, status, attempts,
      created_at, finished_at)
    select workspace_id, 'dlv_' || right(id, 27), 'test', 'whk_bench', id, type, 'event', 'succeeded', 1, created_at,
      created_at
    from events where workspace_id = $1`,
  `insert into delivery_attempts (workspace_id, delivery_id, number, started_at, duration_ms, status_code, response_body)
    select workspace_id, id, 1, created_at, 20, 200, 'ok' from deliveries where workspace_id = $1`,
  `insert into purchases (workspace_id, mode, payment_id, protocol, resource_url, host, method, request_hash,
      order_sealed, delivery, attempts, created_at)
    select workspace_id, 'test', id, 'x402_v2', 'https://api.example/goods', 'api.example', 'GET',
      sha256(convert_to(id, 'UTF8')), decode(repeat('00', 400), 'hex'), 'delivered', 1, created_at
    from payments where workspace_id = $1 and right(id, 1) < '2'`,
]

const given = process.argv.slice(2).map(Number)
if (given.some((size) => !Number.isSafeInteger(size) || size < 1)) throw new Error('a size is a number of payments')
for (const payments of given.length > 0 ? given : SIZES) await measureMove(payments)

async function measureMove(payments: number): Promise<void> {
  const world = await openWorld({ targets: WORKSPACES })
  try {
    const now = new Date()
    const scale = { payments: payments * WORKSPACES, agents: 0, pending: 0, busy: 0 }
    await generateScale(world.databaseUrl, { targets: world.targets, scale, now })
    const workspace = world.targets[0]?.workspaceId ?? ''
    const to = await createOtherCell(world.databaseUrl)
    await runAll(world.databaseUrl, BESIDES, [workspace])
    await runAll(world.databaseUrl, ['vacuum analyze'])
    const times: { step: MoveStep; ms: number }[] = []
    await withCells({ from: world.databaseUrl, to }, async (cells) => {
      if (CELL === null) throw new Error('this is not the name of a cell')
      const onStep = (step: MoveStep) => void times.push({ step, ms: performance.now() })
      await moveWorkspace(cells, { workspace, cell: CELL, clock: createClock(), print: () => undefined, onStep })
    })
    const moved = await runAll(world.databaseUrl, [
      `select count(*) filter (where table_name = 'payments')::int4 as payments, count(*)::int4 as rows,
        round(sum(octet_length(content::text)) / 1e6)::int4 as mb from moved_rows`,
    ])
    say(`# ${Number(moved?.['payments'])} payments, ${Number(moved?.['rows'])} rows, ${Number(moved?.['mb'])} MB`)
    for (const [index, { step, ms }] of times.entries()) {
      say(`${((ms - (times[Math.max(0, index - 1)]?.ms ?? ms)) / 1_000).toFixed(1)} s until ${step}`)
    }
    say(`${(((times.at(-1)?.ms ?? 0) - (times[0]?.ms ?? 0)) / 1_000).toFixed(1)} s of 503`)
  } finally {
    await world.close()
  }
}

async function createOtherCell(databaseUrl: string): Promise<string> {
  await runAll(databaseUrl, ['create database other'])
  const url = new URL(databaseUrl)
  url.pathname = '/other'
  await migrate(url.href, createClock())
  return url.href
}

/** Runs statements one after the other. Returns the first row of the last one. */
async function runAll(databaseUrl: string, statements: readonly string[], values: readonly unknown[] = []) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    let first: Row | undefined
    for (const statement of statements) first = (await client.query<Row>(statement, [...values])).rows[0]
    return first
  } finally {
    await client.end()
  }
}
