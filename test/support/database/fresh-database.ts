import { hash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { migrate } from '../../../server/src/db/migrate.ts'
import { createClock } from '../../../server/src/lib/clock.ts'

const MIGRATIONS_FOLDER = new URL('../../../server/migrations/', import.meta.url)
/**
 * The name contains a hash of the migrations, because a server that is kept between runs may hold a template of older
 * migrations.
 */
const TEMPLATE = `bursar_template_${hash('sha256', readMigrations()).slice(0, 12)}`
/** An arbitrary number, the same in every test process. The process that holds this lock makes the template. */
const TEMPLATE_LOCK = 7_301_946

export interface FreshDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** Creates a database for a test file: `empty`, or cloned from a migrated template, which the first file makes. */
export async function createFreshDatabase({ empty = false } = {}): Promise<FreshDatabase> {
  const server = process.env['BURSAR_TEST_DATABASE_URL']
  if (server === undefined) throw new Error('run the tests with npm test: it starts the PostgreSQL that they need')
  const name = `test_${randomBytes(8).toString('hex')}`
  await withClient(server, async (client) => {
    await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK])
    await makeTemplate(server, client)
    await client.query(`create database ${name} template ${empty ? 'template0' : TEMPLATE}`)
    await client.query('select pg_advisory_unlock($1)', [TEMPLATE_LOCK])
  })
  return {
    url: databaseUrl(server, name),
    drop: () => withClient(server, async (client) => void (await client.query(`drop database ${name} with (force)`))),
  }
}

async function makeTemplate(server: string, client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [TEMPLATE])
  if (rowCount !== 0) return
  const unfinished = `${TEMPLATE}_unfinished`
  await client.query(`drop database if exists ${unfinished}`)
  await client.query(`create database ${unfinished}`)
  await migrate(databaseUrl(server, unfinished), createClock())
  await client.query(`alter database ${unfinished} rename to ${TEMPLATE}`)
}

function readMigrations(): string {
  const files = readdirSync(MIGRATIONS_FOLDER).toSorted()
  return files.map((file) => readFileSync(new URL(file, MIGRATIONS_FOLDER), 'utf8')).join('')
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
