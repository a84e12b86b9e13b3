import pg from 'pg'
import { DatabaseServers, openConnection } from './database-servers.ts'
import { DatabaseReadOnly } from './errors.ts'
import { readMigrations } from './migration.ts'
import { hasOwnSession } from './require-own-session.ts'

export interface DatabaseFacts {
  readonly serverVersion: string
  /** Whether each connection has a session of PostgreSQL for itself. With some connection poolers, it has not. */
  readonly hasOwnSession: boolean
  /** The time of the database's clock, read in one round trip. */
  readonly clock: Date
  /** The error code with which PostgreSQL rejected a test write; null if it allows writes. */
  readonly writeFault: string | null
  /**
   * `pending` lists the versions of our migrations that are not applied yet. `changed` lists applied migrations whose
   * files were changed afterwards.
   */
  readonly pending: readonly string[]
  readonly changed: readonly string[]
  /** The versions of migrations that are applied in the database, but whose files we do not have. */
  readonly unknown: readonly string[]
  readonly applied: readonly string[]
}

const CLIENT = { connectionTimeoutMillis: 5_000, query_timeout: 5_000, application_name: 'bursar doctor' }
const NO_SUCH_TABLE = '42P01'

/** Inspects a database without changing it: its version, its clock, its schema, and whether it accepts writes. */
export async function inspectDatabase(
  databaseUrl: string,
  now: () => Date,
): Promise<DatabaseFacts & { askedAt: Date }> {
  const servers = new DatabaseServers(databaseUrl)
  const client = await openConnection({ servers, client: CLIENT }).catch(async (error: unknown) => {
    if (!(error instanceof DatabaseReadOnly)) throw error
    return await openConnection({ servers, client: CLIENT, mayBeReadOnly: true })
  })
  try {
    const before = now()
    const { rows } = await client.query<{ clock: Date; version: string }>(
      "select clock_timestamp() as clock, current_setting('server_version') as version",
    )
    const askedAt = new Date((before.getTime() + now().getTime()) / 2)
    const [facts] = rows
    if (facts === undefined) throw new Error('the database did not return its version')
    const ledger = await readLedger(client)
    const migrations = await readMigrations()
    const versions = new Set(migrations.map(({ version }) => version))
    return {
      askedAt,
      serverVersion: facts.version,
      hasOwnSession: await hasOwnSession(client, () =>
        openConnection({ servers, client: CLIENT, mayBeReadOnly: true }),
      ),
      clock: facts.clock,
      writeFault: await findWriteFault(client, ledger !== null),
      pending: migrations.flatMap(({ version }) => (ledger?.has(version) === true ? [] : [version])),
      changed: migrations.flatMap(({ version, checksum }) =>
        ledger?.has(version) === true && ledger.get(version) !== checksum ? [version] : [],
      ),
      unknown: [...(ledger?.keys() ?? [])].filter((version) => !versions.has(version)),
      applied: [...(ledger?.keys() ?? [])].toSorted(),
    }
  } finally {
    await client.end()
  }
}

/** Returns the checksum of each applied migration, by its version. Returns null if no migration was ever applied. */
async function readLedger(client: pg.Client): Promise<ReadonlyMap<string, string> | null> {
  try {
    const { rows } = await client.query<{ version: string; checksum: string }>(
      'select version, checksum from schema_migrations',
    )
    return new Map(rows.map(({ version, checksum }) => [version, checksum]))
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === NO_SUCH_TABLE) return null
    throw error
  }
}

/**
 * Tries a write that changes nothing: an update that matches no row. A server that allows no writes rejects this update
 * too. If there are no tables yet, tries to create a table, and rolls that back.
 */
async function findWriteFault(client: pg.Client, hasTables: boolean): Promise<string | null> {
  const write = hasTables
    ? 'update schema_migrations set version = version where false'
    : 'create table bursar_doctor (is_never_kept boolean)'
  await client.query('begin')
  try {
    await client.query(write)
    return null
  } catch (error) {
    if (error instanceof pg.DatabaseError) return error.code ?? 'unknown'
    throw error
  } finally {
    await client.query('rollback')
  }
}
