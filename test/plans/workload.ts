import pg from 'pg'
import { PLANNER_SETTINGS } from '../../server/src/db/database.ts'
import { createFreshDatabase } from '../support/database/fresh-database.ts'
import type { Columns, Sample } from './parameters.ts'
import { PENDING } from './pending-rows.ts'
import { PREPARE, SAMPLED, SELECT_ALL, SELECT_NEW } from './rows.ts'
import { SETTLED } from './settled-rows.ts'

/** A database with the rows of `settled-rows.ts` and `pending-rows.ts`, analyzed while hardly anything was pending. */
export interface Workload {
  readonly client: pg.Client
  readonly columns: Columns
  readonly primaryKeys: ReadonlySet<string>
  readonly indexes: ReadonlySet<string>
  /** The indexes that a constraint needs: unique ones, and those on the columns of a foreign key. */
  readonly constraintIndexes: ReadonlySet<string>
  readonly samples: ReadonlyMap<string, Sample>
  close(): Promise<void>
}

interface ForeignKey {
  readonly table: string
  readonly name: string
  readonly definition: string
}

export async function openWorkload(): Promise<Workload> {
  const database = await createFreshDatabase()
  const settings = { ...PLANNER_SETTINGS, synchronous_commit: 'off', maintenance_work_mem: '64MB' }
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
  const client = new pg.Client({ connectionString: database.url, options: options.join(' ') })
  await client.connect()
  const close = async (): Promise<void> => {
    await client.end()
    await database.drop()
  }
  try {
    return { ...(await readWorkload(client)), close }
  } catch (error) {
    // An open connection would keep the process of the tests alive.
    await close()
    throw error
  }
}

async function readWorkload(client: pg.Client): Promise<Omit<Workload, 'close'>> {
  const columns = await readColumns(client)
  await fill(client, [...columns.keys()])
  const samples = new Map<string, Sample>()
  for (const { id, number } of SAMPLED) samples.set(id, await readSample(client, columns, id, number))
  const { rows: indexes } = await client.query<{ name: string; primary: boolean; constraint: boolean }>(
    `select c.relname as name, i.indisprimary as primary, i.indisunique or exists (
        select 1 from pg_constraint f where f.contype = 'f' and f.conrelid = i.indrelid
          and (i.indkey::int2[])[0:cardinality(f.conkey) - 1] operator(pg_catalog.@>) f.conkey) as constraint
      from pg_index i join pg_class c on c.oid = i.indexrelid where c.relnamespace = current_schema()::regnamespace`,
  )
  return {
    client,
    columns,
    indexes: new Set(indexes.map(({ name }) => name)),
    constraintIndexes: new Set(indexes.flatMap(({ name, constraint }) => (constraint ? [name] : []))),
    primaryKeys: new Set(indexes.flatMap(({ name, primary }) => (primary ? [name] : []))),
    samples,
  }
}

async function fill(client: pg.Client, tables: readonly string[]): Promise<void> {
  const { rows: keys } = await client.query<ForeignKey>(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
      from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`,
  )
  // Checking the foreign keys of all rows together costs far less than checking them row by row.
  const withoutKeys = keys.map(({ table, name }) => `alter table ${table} drop constraint ${name}`)
  const withKeys = keys.map(
    ({ table, name, definition }) => `alter table ${table} add constraint ${name} ${definition}`,
  )
  // Autovacuum must not analyze the tables after the pending rows were added.
  const unanalyzed = tables.map((table) => `alter table ${table} set (autovacuum_enabled = false)`)
  await client.query([PREPARE, ...withoutKeys, ...unanalyzed, ...SETTLED].join(';\n'))
  await client.query('vacuum analyze')
  await client.query([SELECT_NEW, ...SETTLED, SELECT_ALL, ...PENDING, ...withKeys].join(';\n'))
}

async function readColumns(client: pg.Client): Promise<Columns> {
  const { rows } = await client.query<{ table: string; columns: string[] }>(
    `select c.relname as table, array_agg(a.attname::text order by a.attnum) as columns
      from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
      group by c.relname`,
  )
  return new Map(rows.map(({ table, columns }) => [table, columns]))
}

/** Reads one of the workspace's rows from each table. The rows belong to the same agent, wallet, person and so on. */
async function readSample(client: pg.Client, columns: Columns, workspace: string, number: number): Promise<Sample> {
  const address = `0x${(number * 1_000_000 + 1).toString(16).padStart(40, '0')}`
  const [person, oauthClient] = [`usr_${number}_1`, `cli_${number}_1`]
  const shared = {
    workspace_id: workspace,
    log_id: workspace,
    mode: 'test',
    wallet_address: address,
    user_id: person,
    endpoint_id: 'whk_1',
  }
  const own: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    workspaces: { id: workspace },
    users: { id: person },
    agents: { id: 'agent1' },
    wallets: { address },
    webhook_endpoints: { id: 'whk_1' },
    oauth_clients: { id: oauthClient },
    payments: { status: 'pending', agent_id: 'agent1', kind: 'transfer' },
    deliveries: { status: 'pending' },
    connections: { agent_id: 'agent1', client_id: oauthClient },
    grants: { agent_id: 'agent1' },
    wallet_owners: { credential_id: `wpk_${number}_1` },
    wallet_passkeys: { credential_id: `wpk_${number}_1` },
  }
  const sample = new Map<string, Readonly<Record<string, string | null>>>()
  for (const [table, names] of columns) {
    const wanted = Object.entries({ ...shared, ...own[table] }).filter(([name]) => names.includes(name))
    const where = ['true', ...wanted.map(([name, value]) => `${name} = '${value}'`)].join(' and ')
    const list = names.map((name) => `${name}::text`).join()
    const { rows } = await client.query<Record<string, string | null>>(
      `select ${list} from ${table} where ${where} limit 1`,
    )
    sample.set(table, rows[0] ?? {})
  }
  return sample
}
