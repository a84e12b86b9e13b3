import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import { OperatorError } from '../lib/operator-error.ts'
import { DatabaseServers, openConnection } from './database-servers.ts'
import { BASELINE, readMigrations, type Migration } from './migration.ts'
import { requireOwnSession } from './require-own-session.ts'
import { runWithoutTransaction } from './run-without-transaction.ts'

const CONNECT_TIMEOUT_MS = 5_000
/**
 * If several processes start at the same time, one of them migrates. On each try, every other process waits at most
 * this long until the migrations are applied.
 */
const LEDGER_TIMEOUT_MS = 60_000
/**
 * How a migration waits for the locks on tables that other processes use. While it waits, new statements of these
 * processes queue behind it, so each try is short.
 */
const PATIENCE = { tableTimeoutMs: 3_000, triesMax: 20, pauseMs: 1_000 }
/**
 * The errors of a process that creates `schema_migrations` while another process creates it: unique violation,
 * duplicate object or duplicate table. Which of them it is depends on the timing.
 */
const CREATED_MEANWHILE: readonly (string | undefined)[] = ['23505', '42710', '42P07']
/**
 * Deadlock, and a lock that was not granted in time. The migration can then be applied again: either it was rolled
 * back, or it runs without a transaction and is written so that it can be repeated.
 */
const LOCKED_OUT: readonly (string | undefined)[] = ['40P01', '55P03']
const LOCK_LEDGER = 'lock table schema_migrations in exclusive mode'

export interface MigrateOptions {
  readonly logger?: Pick<Logger, 'warn'>
  readonly patience?: Readonly<typeof PATIENCE>
  /** The folder of the migrations, if not `server/migrations`. */
  readonly folder?: URL
}

/**
 * Brings the database's schema up to date. There are no migrations that undo others. Each migration file is applied
 * once and must not change afterwards. Its statements are sent one by one, normally in one transaction. But if its first
 * line is `-- no transaction`, they run without a transaction. Many processes may call this function at the same time,
 * even while processes of the previous version are running. The function waits for a limited time if transactions of
 * other processes hold locks that a migration needs. Returns the versions that were not applied before.
 */
export async function migrate(
  databaseUrl: string,
  clock: Clock,
  { logger, patience = PATIENCE, folder }: MigrateOptions = {},
): Promise<string[]> {
  const client = await connect(databaseUrl)
  try {
    await requireOwnSession(client, () => connect(databaseUrl))
    await createLedger(client)
    const ledger = await readLedger(client)
    const missing = (await readMigrations(folder)).filter((migration) => !isApplied(ledger, migration))
    for (const migration of missing) {
      await insist(migration, { logger, patience }, () =>
        applyOnce(client, migration, { databaseUrl, clock, tableTimeoutMs: patience.tableTimeoutMs }),
      )
    }
    return missing.map(({ version }) => version)
  } finally {
    await client.end()
  }
}

/**
 * Applies a migration. Tries again, a limited number of times, while other transactions hold the locks that it needs.
 */
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
        throw new OperatorError(`${message} (pg_stat_activity), and start again`, { cause })
      }
      logger?.warn({ migration: version, tries, err: cause }, 'the migration is waiting for other transactions')
      await delay(patience.pauseMs)
    }
  }
}

/**
 * Applies a migration unless it is applied already. A lock on `schema_migrations` keeps other processes waiting until
 * the whole file is applied, even if its statements commit one by one.
 */
async function applyOnce(
  client: pg.Client,
  migration: Migration,
  { databaseUrl, clock, tableTimeoutMs }: { databaseUrl: string; clock: Clock; tableTimeoutMs: number },
): Promise<void> {
  await client.query('begin')
  try {
    await client.query(`set local lock_timeout = ${LEDGER_TIMEOUT_MS}`)
    await client.query(LOCK_LEDGER)
    if (!isApplied(await readLedger(client), migration)) {
      await client.query(`set local lock_timeout = ${tableTimeoutMs}`)
      if (migration.isTransaction) for (const statement of migration.statements) await client.query(statement)
      else await runBeside(client, databaseUrl, migration.statements)
      await client.query('insert into schema_migrations (version, checksum, applied_at) values ($1, $2, $3)', [
        migration.version,
        migration.checksum,
        clock.now(),
      ])
    }
    await client.query('commit')
  } catch (error) {
    // An error here does not matter: if the connection is lost, the server has rolled back already.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/**
 * Runs the statements on a second connection. Meanwhile the first connection is idle and keeps the lock on
 * `schema_migrations`.
 */
async function runBeside(client: pg.Client, databaseUrl: string, statements: readonly string[]): Promise<void> {
  await client.query('set local idle_in_transaction_session_timeout = 0')
  // Building an index waits until no other session has an older snapshot. On Citus, the worker keeps the snapshot of the
  // last query of a transaction until the next command. This command changes nothing else.
  await client.query(LOCK_LEDGER)
  const beside = await connect(databaseUrl)
  try {
    await runWithoutTransaction(beside, statements)
  } finally {
    await beside.end()
  }
}

async function connect(databaseUrl: string): Promise<pg.Client> {
  return await openConnection({
    servers: new DatabaseServers(databaseUrl),
    client: { connectionTimeoutMillis: CONNECT_TIMEOUT_MS },
  })
}

async function createLedger(client: pg.Client): Promise<void> {
  const create = `create table if not exists schema_migrations (
    version text primary key, checksum text not null, applied_at timestamptz not null)`
  try {
    await client.query(create)
  } catch (error) {
    // If two processes create the table at the same time, one of them fails with an error of `CREATED_MEANWHILE`. The
    // table exists then.
    if (!(error instanceof pg.DatabaseError && CREATED_MEANWHILE.includes(error.code))) throw error
  }
}

/** Returns the checksum of each applied migration, by its version. */
async function readLedger(client: pg.Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ version: string; checksum: string }>(
    'select version, checksum from schema_migrations',
  )
  return new Map(rows.map((row) => [row.version, row.checksum]))
}

function isApplied(ledger: ReadonlyMap<string, string>, { version, checksum }: Migration): boolean {
  const known = ledger.get(version)
  if (known === undefined || known === checksum) return known !== undefined
  if (version === BASELINE) {
    throw new OperatorError(
      'a version before 0.2.0 made this database, and no version can upgrade it: use an empty database',
    )
  }
  throw new OperatorError(`migration ${version} was changed after it was applied`)
}
