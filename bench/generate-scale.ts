import pg from 'pg'
import type { BenchTarget } from './seed.ts'

/**
 * How many rows `generateScale` inserts, so that the database is like one after years of use: payments of many
 * workspaces, very many agents of one workspace, and very many pending payments of another. All payments satisfy the
 * constraints of their table, which are checked again at the end.
 */
export interface Scale {
  readonly payments: number
  readonly agents: number
  /** The number of pending payments of one workspace, whose chain does not respond. */
  readonly pending: number
  /** The number of payments that one agent made in the last 24 hours. */
  readonly busy: number
}

/**
 * The first three workspaces of the list, each with a special role in this benchmark. Like the other workspaces, they
 * get a share of the payments.
 */
export interface ScaleTargets {
  readonly huge: BenchTarget
  readonly stuck: BenchTarget
  readonly busy: BenchTarget
}

const YEAR_DAYS = 365
const WALLETS_PER_AGENT = 50
/** Crockford's base 32. */
const BASE_32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** The positions of the ten groups of five bits in a time in milliseconds, the highest first. */
const ID_SHIFTS = [45, 40, 35, 30, 25, 20, 15, 10, 5, 0]
const MAINTENANCE_MEMORY = '512MB'

export function chooseTargets(targets: readonly BenchTarget[]): ScaleTargets {
  const [huge, stuck, busy] = targets
  if (huge === undefined || stuck === undefined || busy === undefined) throw new Error('there are too few workspaces')
  return { huge, stuck, busy }
}

export async function generateScale(
  databaseUrl: string,
  { targets, scale, now }: { targets: readonly BenchTarget[]; scale: Scale; now: Date },
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(`set maintenance_work_mem = '${MAINTENANCE_MEMORY}'; set synchronous_commit = off`)
    const { huge, stuck, busy } = chooseTargets(targets)
    await insertAgents(client, { huge, count: scale.agents, now })
    await client.query('begin')
    const rebuild = await emptyPayments(client)
    const rows = targets.map(({ workspaceId, agentId, wallet, grantId }) => ({ workspaceId, agentId, wallet, grantId }))
    await client.query(
      `create temp table payers on commit drop as select * from rows from (
          jsonb_to_recordset($1::jsonb) as ("workspaceId" text, "agentId" text, wallet text, "grantId" text)
        ) with ordinality as t ("workspaceId", "agentId", wallet, "grantId", ordinality)`,
      [JSON.stringify(rows)],
    )
    await client.query('create unique index payers_by_ordinality on payers (ordinality)')
    await client.query('analyze payers')
    const settled = { status: 'confirmed', agoMax: `${YEAR_DAYS} days`, agoMin: '2 days' }
    const payer = `1 + hashint8(n)::bigint % ${targets.length}`
    await insertPayments(client, { count: scale.payments, payer: `abs(${payer})`, seed: 'all', now, ...settled })
    const today = { status: 'confirmed', agoMax: '86390 seconds', agoMin: '1 second' }
    await insertPayments(client, { count: scale.busy, payer: positionOf(targets, busy), seed: 'busy', now, ...today })
    const waiting = { status: 'pending', agoMax: '50 minutes', agoMin: '1 second' }
    await insertPayments(client, {
      count: scale.pending,
      payer: positionOf(targets, stuck),
      seed: 'stuck',
      now,
      ...waiting,
    })
    for (const statement of rebuild) await client.query(statement)
    await client.query('commit')
    await client.query('vacuum analyze payments, agents, wallets, grants')
  } finally {
    await client.end()
  }
}

function positionOf(targets: readonly BenchTarget[], target: BenchTarget): string {
  return String(targets.indexOf(target) + 1)
}

const millisecondsOf = (at: string): string => `floor(extract(epoch from ${at}) * 1000)::bigint`

/**
 * Returns an SQL expression for an id. Ids sort by time, so an id begins with the milliseconds of its time in ten
 * characters of Crockford's base 32. The other sixteen characters are random hexadecimal digits, which are part of that
 * alphabet too.
 */
const sortable = (prefix: string, at: string, seed: string): string => {
  const digits = ID_SHIFTS.map((shift) => `substr('${BASE_32}', 1 + ((${at} >> ${shift}) & 31)::int, 1)`)
  return `('${prefix}' || ${digits.join(' || ')} || upper(left(md5(${seed}), 16)))`
}

/** Creates agents of one workspace, 50 for each wallet, each with an active grant. */
async function insertAgents(
  client: pg.Client,
  { huge, count, now }: { huge: BenchTarget; count: number; now: Date },
): Promise<void> {
  const wallets = Math.ceil(count / WALLETS_PER_AGENT)
  await client.query(
    `insert into wallets (workspace_id, mode, address, name, enclave_wallet_id, owner_quorum_id, created_at)
      select $1, 'test', '0x' || md5('wallet ' || n) || left(md5('more ' || n), 8), 'Bench', 'wallet ' || n, 'quorum', $2
      from generate_series(1, $3::int) n`,
    [huge.workspaceId, now, wallets],
  )
  await client.query(
    `insert into agents (workspace_id, mode, id, created_at) select $1, 'test', 'fleet-' || n, $2 from generate_series(1, $3::int) n`,
    [huge.workspaceId, now, count],
  )
  await client.query(
    `insert into wallet_slots (workspace_id, mode, wallet_address, slot, enclave_policy_id, signer_id,
        signer_private_key_sealed)
      select $1, 'test', address, slot, 'policy ' || address || slot, 'signer ' || address || slot, 'x'
      from wallets, generate_series(1, ${WALLETS_PER_AGENT}) slot where workspace_id = $1 and enclave_wallet_id like 'wallet %'`,
    [huge.workspaceId],
  )
  await client.query(
    `insert into grants (workspace_id, id, mode, agent_id, wallet_address, max_per_tx_micro, daily_cap_micro,
        recipient_allowlist, contract_allowlist, status, slot, created_at, activated_at)
      select $1, ${sortable('grt_', millisecondsOf('$2::timestamptz'), "'grant ' || n")}, 'test', 'fleet-' || n,
        '0x' || md5('wallet ' || w) || left(md5('more ' || w), 8), 1000000, 1000000000000, '{}', '{usdc}', 'active',
        1 + (n - 1) % ${WALLETS_PER_AGENT}, $2::timestamptz, $2::timestamptz
      from generate_series(1, $3::int) n, lateral (select 1 + (n - 1) / ${WALLETS_PER_AGENT} as w) t`,
    [huge.workspaceId, now, count],
  )
}

/**
 * Empties the table, and drops its indexes, its primary key, and the foreign keys from and to it. Returns the
 * statements that restore all of this. PostgreSQL writes no log for rows that are inserted in the transaction that
 * emptied their table.
 */
async function emptyPayments(client: pg.Client): Promise<string[]> {
  await client.query('create temp table kept on commit drop as select * from payments')
  const { rows: keys } = await client.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
      from pg_constraint
      where contype in ('p', 'f') and 'payments'::regclass in (conrelid, confrelid)
      order by contype desc`,
  )
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
      where indrelid = 'payments'::regclass and not indisprimary`,
  )
  const foreignFirst = keys.toReversed()
  for (const { table, name } of foreignFirst) await client.query(`alter table ${table} drop constraint ${name}`)
  for (const { name } of indexes) await client.query(`drop index ${name}`)
  await client.query('truncate payments')
  return [
    'insert into payments select * from kept',
    ...keys.map(({ table, name, definition }) => `alter table ${table} add constraint ${name} ${definition}`),
    ...indexes.map(({ definition }) => definition),
  ]
}

interface PaymentsOrder {
  readonly count: number
  /** An SQL expression for the position, from 1, of the workspace that makes the payment with the index `n`. */
  readonly payer: string
  /** Makes the ids different from those of other calls. */
  readonly seed: string
  readonly status: string
  /** The payments are spread evenly between these times before `now`. */
  readonly agoMax: string
  readonly agoMin: string
  readonly now: Date
}

async function insertPayments(client: pg.Client, order: PaymentsOrder): Promise<void> {
  const { count, payer, seed, status, agoMax, agoMin, now } = order
  const settled = status === 'confirmed'
  await client.query(
    `insert into payments (workspace_id, mode, id, agent_id, wallet_address, grant_id, to_address, amount_micro, amount_usdc,
        status, tx_hash, created_at, max_per_tx_micro, daily_cap_micro, spent_24h_micro, attempt, accepted_at,
        enclave_transaction_id, mined_block, mined_block_hash, settled_at)
      select p."workspaceId", 'test', ${sortable('pay_', 'ms', '$1 || n')}, p."agentId", p.wallet, p."grantId", p.wallet, 1,
        '0.000001', $2, '0x' || md5($1 || n) || md5(n || $1), at, 1000000, 1000000000000, 0, 1, at, 'tx ' || $1 || n,
        ${settled ? `n, '0x' || md5('block ' || n), at + interval '2 seconds'` : 'null, null, null'}
      from generate_series(1, $3::bigint) n
      cross join lateral (select $4::timestamptz - $5::interval + ($5::interval - $6::interval) * (n::float8 / $3::bigint) as at) t
      cross join lateral (select ${millisecondsOf('at')} as ms offset 0) u
      join payers p on p.ordinality = ${payer}`,
    [seed, status, count, now, agoMax, agoMin],
  )
}
