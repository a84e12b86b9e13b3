import pg from 'pg'

/** The backup of a sandbox's database. */
export interface DatabaseBackup {
  /** Replaces the database by the backup. No server may run on the database. */
  restore(): Promise<void>
}

const DATABASE = 'bursar'
const BACKUP = 'bursar_backup'

/**
 * Makes a backup of a sandbox's database, inside of its PostgreSQL. Everything else in the sandbox goes on: the chains
 * and the enclave keep what happens after the backup. All connections to the database end, so no server may be in the
 * middle of a request.
 */
export async function backUpDatabase(databaseUrl: string): Promise<DatabaseBackup> {
  await replaceDatabase(databaseUrl, { source: DATABASE, target: BACKUP })
  return { restore: () => replaceDatabase(databaseUrl, { source: BACKUP, target: DATABASE }) }
}

async function replaceDatabase(
  databaseUrl: string,
  { source, target }: { source: string; target: string },
): Promise<void> {
  const url = new URL(databaseUrl)
  url.pathname = '/postgres'
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    await client.query(`drop database if exists ${target} with (force)`)
    // A copy needs a database without connections. The control API of the sandbox has some, and would open new ones.
    await client.query(`alter database ${source} allow_connections false`)
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [source])
    await client.query(`create database ${target} template ${source}`)
    for (const name of [source, target]) await client.query(`alter database ${name} allow_connections true`)
  } finally {
    await client.end()
  }
}
