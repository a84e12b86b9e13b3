import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import pg from 'pg'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { writeSampleMigrations, type SampleMigrations } from '../../../test/support/database/sample-migrations.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { createClock } from '../lib/clock.ts'
import { migrate, type MigrateOptions } from './migrate.ts'

const PATIENT = { tableTimeoutMs: 200, triesMax: 500, pauseMs: 10 }
/** With this table timeout, PostgreSQL detects a deadlock before the timeout ends. */
const UNTIL_DEADLOCK = { ...PATIENT, tableTimeoutMs: 20_000 }
const INDEX_BUILD = `query like 'create index concurrently%' and wait_event_type = 'Lock'`
const MIGRATION_WAITS = `query like '%lock table grants%' and wait_event_type = 'Lock'`
const HAS_LOOKED = `clock_timestamp() - query_start > 1.5 * current_setting('deadlock_timeout')::interval`

describe('migrate, while another process is working', () => {
  let sample: SampleMigrations
  let fresh: FreshDatabase
  /** A connection of the worker process. */
  let worker: pg.Client
  let observer: pg.Client
  let warnings: object[]
  beforeEach(async () => {
    warnings = []
    sample = await writeSampleMigrations()
    fresh = await createFreshDatabase({ empty: true })
    worker = await connect()
    observer = await connect()
  })
  afterEach(async () => {
    await worker.end()
    await observer.end()
    await fresh.drop()
    await sample.remove()
  })

  test('the migration waits for a payment in progress, which then finishes', async () => {
    await applyFirst(1)
    await worker.query('begin')
    await worker.query('select 1 from grants for no key update')
    const migrated = start(UNTIL_DEADLOCK)
    await become(MIGRATION_WAITS)
    await worker.query('select 1 from payments')
    await worker.query('select 1 from agents')
    await worker.query('commit')
    await migrated
    assert.deepEqual(warnings, [])
    assert.equal(await countPending(), 0)
  })

  test('in a deadlock, the migration is rolled back and starts again', async () => {
    await applyFirst(1)
    const other = await connect()
    for (const client of [worker, other]) await client.query('begin')
    await worker.query('select 1 from agents')
    await other.query('select 1 from payments')
    const migrated = start(UNTIL_DEADLOCK)
    await become(MIGRATION_WAITS)
    const went = worker.query('select 1 from grants')
    // Each waiting session checks for a deadlock once, after one second. The worker has checked already, so the
    // migration is the one that finds the deadlock.
    await become(`query like '%from grants' and wait_event_type = 'Lock' and ${HAS_LOOKED}`)
    await other.query('commit')
    await went
    await worker.query('commit')
    await migrated
    await other.end()
    assert.deepEqual(codes(), ['40P01'])
    assert.equal(await countPending(), 0)
  })

  test('the migration waits for a lock that another process has for a while; between its tries, others can use the table', async () => {
    await applyFirst(1)
    await worker.query('begin')
    await worker.query('select 1 from payments')
    const migrated = start(PATIENT)
    await waitFor('two warnings', () => warnings.length >= 2)
    await observer.query('select 1 from grants')
    await worker.query('commit')
    await migrated
    assert.ok(codes().every((code) => code === '55P03'))
    assert.equal(await countPending(), 0)
  })

  test('if another process never releases a lock, the migration fails with an error that says so, and changes nothing', async () => {
    await applyFirst(1)
    await worker.query('begin')
    await worker.query('select 1 from payments')
    await assert.rejects(start({ ...PATIENT, triesMax: 3 }), /migration 0002 did not get its locks in 3 tries/)
    assert.equal(warnings.length, 2)
    await worker.query('select 1 from grants')
    await worker.query('commit')
    assert.equal(await countPending(), 2)
    await start(PATIENT)
    assert.equal(await countPending(), 0)
  })

  test('payments are read and written while their indexes are built', async () => {
    await applyFirst(2)
    await worker.query('begin')
    await worker.query('lock table payments in row exclusive mode')
    const migrated = start(PATIENT)
    await become(INDEX_BUILD)
    await observer.query(`set lock_timeout = '1s'`)
    await observer.query('select 1 from payments for update')
    await observer.query(`update payments set memo = 'x'`)
    await worker.query('commit')
    await migrated
    assert.equal(await countPending(), 0)
    assert.deepEqual(await listUnfinished(), [])
  })

  test('if building an index was interrupted, the next process builds it again', async () => {
    await applyFirst(2)
    await worker.query('begin')
    await worker.query('lock table payments in row exclusive mode')
    const cut = assert.rejects(start(PATIENT), /terminat/)
    await become(INDEX_BUILD)
    // Try repeatedly: while a session checks for a deadlock, PostgreSQL does not show the session as waiting,
    // so this query misses it.
    const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and ${INDEX_BUILD}`
    await waitFor('the backend to be terminated', async () => (await observer.query(terminate)).rowCount !== 0)
    await cut
    await worker.query('commit')
    assert.deepEqual(await listUnfinished(), ['payments_noted'])
    assert.equal(await countPending(), 1)
    await Promise.all([start(PATIENT), start(PATIENT), start(PATIENT)])
    assert.deepEqual(await listUnfinished(), [])
    assert.equal(await countPending(), 0)
  })

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: fresh.url })
    await client.connect()
    return client
  }

  function start(patience: NonNullable<MigrateOptions['patience']>): Promise<unknown> {
    const warn = (line: object): void => {
      warnings.push(line)
    }
    return migrate(fresh.url, createClock(), { logger: { warn }, patience, folder: sample.folder })
  }

  /** Applies the migrations of an older version of the service, which has only the first `count` files. */
  async function applyFirst(count: number): Promise<void> {
    const { folder, remove } = await writeSampleMigrations(count)
    await migrate(fresh.url, createClock(), { folder })
    await remove()
  }

  async function countPending(): Promise<number> {
    const { rowCount } = await observer.query('select 1 from schema_migrations')
    return sample.versions.length - (rowCount ?? 0)
  }

  async function listUnfinished(): Promise<unknown[]> {
    const { rows } = await observer.query<{ name: string }>(
      'select indexrelid::regclass::text as name from pg_index where not indisvalid',
    )
    return rows.map(({ name }) => name)
  }

  async function become(condition: string): Promise<void> {
    const text = `select 1 from pg_stat_activity where datname = current_database() and ${condition}`
    await waitFor(condition, async () => (await observer.query(text)).rowCount !== 0)
  }

  function codes(): unknown[] {
    return warnings.map((line) => 'err' in line && line.err instanceof pg.DatabaseError && line.err.code)
  }
})
