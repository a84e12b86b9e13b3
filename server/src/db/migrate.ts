import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import type { Clock } from '../lib/clock.ts'

const MIGRATIONS_FOLDER = new URL('../../migrations/', import.meta.url)
const FILE_PATTERN = /^(\d{4})_[a-z0-9_]+\.sql$/
const CONNECT_TIMEOUT_MS = 5_000
/** Several processes may start at once: the others wait this long for the one that migrates. */
const LOCK_TIMEOUT_MS = 60_000
/** Unique violation, duplicate object, duplicate table: at which of the catalogue's tables the race was lost. */
const CREATED_MEANWHILE: readonly (string | undefined)[] = ['23505', '42710', '42P07']

/** Brings the schema up to date: forward only, each file once and whole, unchanged since. Safe to call from many processes. */
export async function migrate(databaseUrl: string, clock: Clock): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  await client.connect()
  try {
    await createLedger(client)
    await client.query('begin')
    await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`)
    await client.query('lock table schema_migrations in exclusive mode')
    const applied = await client.query<{ version: string; checksum: string }>(
      'select version, checksum from schema_migrations',
    )
    const checksums = new Map(applied.rows.map((row) => [row.version, row.checksum]))
    for (const migration of await readMigrations()) {
      const known = checksums.get(migration.version)
      if (known === migration.checksum) continue
      if (known !== undefined) throw new Error(`migration ${migration.version} was changed after it was applied`)
      await client.query(migration.sql)
      await client.query('insert into schema_migrations (version, checksum, applied_at) values ($1, $2, $3)', [
        migration.version,
        migration.checksum,
        clock.now(),
      ])
    }
    await client.query('commit')
  } finally {
    await client.end()
  }
}

async function createLedger(client: pg.Client): Promise<void> {
  const create = `create table if not exists schema_migrations (
    version text primary key, checksum text not null, applied_at timestamptz not null)`
  try {
    await client.query(create)
  } catch (error) {
    // Two processes that create it at once collide in the catalogue; by now it is there.
    if (!(error instanceof pg.DatabaseError && CREATED_MEANWHILE.includes(error.code))) throw error
  }
}

async function readMigrations(): Promise<{ version: string; checksum: string; sql: string }[]> {
  const files = (await readdir(MIGRATIONS_FOLDER)).filter((file) => FILE_PATTERN.test(file)).sort()
  return await Promise.all(
    files.map(async (file) => {
      const sql = await readFile(new URL(file, MIGRATIONS_FOLDER), 'utf8')
      return { version: file.slice(0, 4), checksum: hash('sha256', sql, 'hex'), sql }
    }),
  )
}
