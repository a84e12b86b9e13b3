import { hash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type pg from 'pg'
import { migrate } from '../../../server/src/db/migrate.ts'
import { createClock } from '../../../server/src/lib/clock.ts'
import { findTestServer, withClient, withServerLock } from './test-server.ts'

const MIGRATIONS_FOLDER = new URL('../../../server/migrations/', import.meta.url)
/**
 * The template's name contains a hash of the migrations, because a PostgreSQL server that earlier runs have used may
 * still have a template with older migrations.
 */
const TEMPLATE = `bursar_template_${hash('sha256', readMigrations()).slice(0, 12)}`
/**
 * The number of a lock. It is arbitrary, but the same in every test process. The process that has this lock creates the
 * template.
 */
const TEMPLATE_LOCK = 7_301_946

export interface FreshDatabase {
  readonly url: string
  drop(): Promise<void>
}

/**
 * Creates a database for a test file. The database is a copy of a template, which the first test file creates by
 * applying all migrations. With `empty`, the database contains nothing.
 */
export async function createFreshDatabase({ empty = false } = {}): Promise<FreshDatabase> {
  const server = findTestServer()
  const name = `test_${randomBytes(8).toString('hex')}`
  await withServerLock(TEMPLATE_LOCK, async (client) => {
    await makeTemplate(server, client)
    // `file_copy` copies the template's files. The default strategy writes the template's pages to the log, which takes
    // three times as long.
    await client.query(`create database ${name} template ${empty ? 'template0' : TEMPLATE} strategy file_copy`)
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
