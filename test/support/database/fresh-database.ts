import { hash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { migrate } from '../../../server/src/db/migrate.ts'
import { createClock } from '../../../server/src/lib/clock.ts'
import { createCitusCell } from './citus-cell.ts'
import { runUnlimited } from './read-rows.ts'
import { findTestServer, runOnServer, withServerLock } from './test-server.ts'

const MIGRATIONS_FOLDER = new URL('../../../server/migrations/', import.meta.url)
/**
 * The schema of all tables in the databases of tests. It is not `public`, so that the tests find what would work in that
 * schema only. The databases of sandboxes use `public`.
 */
export const SCHEMA = 'cell'
/** Whether the databases are cells on Citus. */
export const ON_CITUS = process.env['BURSAR_TEST_CITUS'] === 'yes'
/**
 * The template's name contains a hash of the migrations, because a PostgreSQL server that earlier runs have used may
 * still have a template with older migrations.
 */
const TEMPLATE = `bursar_template_${hash('sha256', readMigrations()).slice(0, 12)}_${SCHEMA}`
/**
 * The number of a lock. It is arbitrary, but the same in every test process. The process that has this lock creates the
 * template.
 */
const TEMPLATE_LOCK = 7_301_946

export interface FreshDatabase {
  readonly url: string
  /** The settings with which the service uses such a database. */
  readonly settings: Readonly<Record<string, string>>
  drop(): Promise<void>
}

let templateMade: Promise<void> | undefined

/**
 * Creates a database for a test file. The database is a copy of a template, which the first test file of the run
 * creates by applying all migrations. With `empty`, the database contains nothing. If the tests run on Citus
 * (`scripts/citus.ts`), which does not distribute copies, it is a new cell.
 */
export async function createFreshDatabase({ empty = false } = {}): Promise<FreshDatabase> {
  if (ON_CITUS) {
    return { ...(await createCitusCell({ empty })), settings: { PLAN_CACHE_MODE: 'auto' } }
  }
  const name = `test_${randomBytes(8).toString('hex')}`
  templateMade ??= withServerLock(TEMPLATE_LOCK, makeTemplate)
  await templateMade
  // `file_copy` copies the template's files. The default strategy writes the template's pages to the log, which takes
  // three times as long.
  await runOnServer(`create database ${name} template ${empty ? 'template0' : TEMPLATE} strategy file_copy`)
  if (!empty) await useSchema(name)
  return {
    url: databaseUrl(name),
    settings: {},
    drop: async () => void (await runOnServer(`drop database ${name} with (force)`)),
  }
}

async function makeTemplate(): Promise<void> {
  const { rowCount } = await runOnServer('select 1 from pg_database where datname = $1', [TEMPLATE])
  if (rowCount !== 0) return
  const unfinished = `${TEMPLATE}_unfinished`
  await runOnServer(`drop database if exists ${unfinished}`)
  await runOnServer(`create database ${unfinished}`)
  await runUnlimited(databaseUrl(unfinished), `create schema ${SCHEMA}`, [])
  await useSchema(unfinished)
  await migrate(databaseUrl(unfinished), createClock())
  // The first connection after a migration writes a file with what every later connection loads first. Each copy of the
  // template contains this file. Otherwise, the first connection to each copy would write it.
  await runUnlimited(databaseUrl(unfinished), 'select 1', [])
  await runOnServer(`alter database ${unfinished} rename to ${TEMPLATE}`)
}

/** Makes the schema the first one in which a database finds tables. A copy of a database does not have this setting. */
async function useSchema(database: string): Promise<void> {
  await runOnServer(`alter database ${database} set search_path = ${SCHEMA}`)
}

function readMigrations(): string {
  const files = readdirSync(MIGRATIONS_FOLDER).toSorted()
  return files.map((file) => readFileSync(new URL(file, MIGRATIONS_FOLDER), 'utf8')).join('')
}

function databaseUrl(name: string): string {
  const url = new URL(findTestServer())
  url.pathname = `/${name}`
  return url.href
}
