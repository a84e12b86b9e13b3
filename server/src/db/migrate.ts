import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import { readMigrations, type Migration } from './migration.ts'
import { runWithoutTransaction } from './run-without-transaction.ts'

const CONNECT_TIMEOUT_MS = 5_000
/** Several processes may start at once. At each try, the others wait this long for the one that migrates. */
const LEDGER_TIMEOUT_MS = 60_000
/**
 * How a migration waits for tables that other processes use. Their statements wait behind it meanwhile, so each try is
 * short.
 */
const PATIENCE = { tableTimeoutMs: 3_000, triesMax: 20, pauseMs: 1_000 }
/**
 * Unique violation, duplicate object, duplicate table: which one it is depends on the catalog table where the race was
 * lost.
 */
const CREATED_MEANWHILE: readonly (string | undefined)[] = ['23505', '42710', '42P07']
/** Deadlock, and a lock that was not granted in time. Nothing was changed, or it can be done again. */
const LOCKED_OUT: readonly (string | undefined)[] = ['40P01', '55P03']

export interface MigrateOptions {
  readonly logger?: Pick<Logger, 'warn'>
  readonly patience?: Readonly<typeof PATIENCE>
}

/**
 * Brings the schema up to date. Migrations only go forward. Each file is applied once and must not change afterwards;
 * it runs in one transaction, or, if its first line says so, statement by statement without one. Many processes may
 * call this at once, also while processes of the previous version are running: it waits a while for transactions that
 * are in the way.
 */
export async function migrate(
  databaseUrl: string,
  clock: Clock,
  { logger, patience = PATIENCE }: MigrateOptions = {},
): Promise<void> {
  const client = await connect(databaseUrl)
  try {
    await createLedger(client)
    const ledger = await readLedger(client)
    for (const migration of await readMigrations()) {
      if (isApplied(ledger, migration)) continue
      await insist(migration, { logger, patience }, () =>
        applyOnce(client, migration, { databaseUrl, clock, tableTimeoutMs: patience.tableTimeoutMs }),
      )
    }
  } finally {
    await client.end()
  }
}

/** Applies a migration, and tries again while other transactions hold the locks that it needs. */
async function insist(
  { version }: Migration,
  { logger, patience }: { logger: MigrateOptions['logger']; patience: typeof PATIENCE },
  apply: () => Promise<void>,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await apply()
      return
    } catch (cause) {
      if (!(cause instanceof pg.DatabaseError && LOCKED_OUT.includes(cause.code))) throw cause
      if (tries >= patience.triesMax) {
        const message = `migration ${version} did not get its locks in ${tries} tries: look for long transactions`
        throw new Error(`${message} (pg_stat_activity), and start again`, { cause })
      }
      logger?.warn({ migration: version, tries, err: cause }, 'the migration is waiting for other transactions')
      await delay(patience.pauseMs)
    }
  }
}

/**
 * The lock on `schema_migrations` stops other processes until the file is applied, even while its statements commit one
 * by one.
 */
async function applyOnce(
  client: pg.Client,
  migration: Migration,
  { databaseUrl, clock, tableTimeoutMs }: { databaseUrl: string; clock: Clock; tableTimeoutMs: number },
): Promise<void> {
  await client.query('begin')
  try {
    await client.query(`set local lock_timeout = ${LEDGER_TIMEOUT_MS}`)
    await client.query('lock table schema_migrations in exclusive mode')
    if (!isApplied(await readLedger(client), migration)) {
      await client.query(`set local lock_timeout = ${tableTimeoutMs}`)
      if (migration.statements === null) await client.query(migration.sql)
      else await runBeside(client, databaseUrl, migration.statements)
      await client.query('insert into schema_migrations (version, checksum, applied_at) values ($1, $2, $3)', [
        migration.version,
        migration.checksum,
        clock.now(),
      ])
    }
    await client.query('commit')
  } catch (error) {
    // If the connection is lost, the server has rolled back.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/**
 * Runs the statements on a second connection. The first one is idle meanwhile and keeps the lock on
 * `schema_migrations`.
 */
async function runBeside(client: pg.Client, databaseUrl: string, statements: readonly string[]): Promise<void> {
  await client.query('set local idle_in_transaction_session_timeout = 0')
  const beside = await connect(databaseUrl)
  try {
    await runWithoutTransaction(beside, statements)
  } finally {
    await beside.end()
  }
}

async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  // If the connection breaks while it is idle, the next query fails.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

async function createLedger(client: pg.Client): Promise<void> {
  const create = `create table if not exists schema_migrations (
    version text primary key, checksum text not null, applied_at timestamptz not null)`
  try {
    await client.query(create)
  } catch (error) {
    // If two processes create it at once, one of them fails; the table exists by now.
    if (!(error instanceof pg.DatabaseError && CREATED_MEANWHILE.includes(error.code))) throw error
  }
}

/** Returns the checksums of the applied migrations by version. */
async function readLedger(client: pg.Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ version: string; checksum: string }>(
    'select version, checksum from schema_migrations',
  )
  return new Map(rows.map((row) => [row.version, row.checksum]))
}

function isApplied(ledger: ReadonlyMap<string, string>, { version, checksum }: Migration): boolean {
  const known = ledger.get(version)
  if (known !== undefined && known !== checksum) {
    throw new Error(`migration ${version} was changed after it was applied`)
  }
  return known !== undefined
}
