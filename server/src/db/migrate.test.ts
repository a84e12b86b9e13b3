import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { writeSampleMigrations, type SampleMigrations } from '../../../test/support/database/sample-migrations.ts'
import { createClock } from '../lib/clock.ts'
import { migrate } from './migrate.ts'

/** How many times the race is run. Two processes can collide in several places, but do not collide every time. */
const ROUNDS = 5

describe('migrate', () => {
  let sample: SampleMigrations
  let fresh: FreshDatabase
  let client: pg.Client
  before(async () => {
    sample = await writeSampleMigrations()
    fresh = await createFreshDatabase({ empty: true })
    client = new pg.Client({ connectionString: fresh.url })
    await client.connect()
  })
  after(async () => {
    await client.end()
    await fresh.drop()
    await sample.remove()
  })

  test('processes that start at once on an empty database all succeed, and each file is applied once', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await client.query('drop schema public cascade')
      await client.query('create schema public')
      await Promise.all(Array.from({ length: 6 }, () => run()))
      assert.deepEqual(
        (await ledger()).map(({ version }) => version),
        sample.versions,
      )
    }
    assert.equal((await client.query('select note from payments')).rowCount, 0)
  })

  test('a second run changes nothing', async () => {
    const before = await ledger()
    await run(1_000_000)
    assert.deepEqual(await ledger(), before)
  })

  test('a file that was changed after it was applied is rejected with its number', async () => {
    await withChecksum('0002', 'other', () =>
      assert.rejects(run(), /^Error: migration 0002 was changed after it was applied$/),
    )
    await run()
  })

  test('a database of a version before 0.2.0 is rejected with one sentence, and not changed', async () => {
    await withChecksum('0001', 'of the first migration of an older version', async () => {
      await client.query(`delete from schema_migrations where version > '0001'`)
      const before = await ledger()
      await assert.rejects(run(), {
        message: 'a version before 0.2.0 made this database, and no version can upgrade it: use an empty database',
      })
      assert.deepEqual(await ledger(), before)
    })
  })

  function run(offsetMs = 0): Promise<unknown> {
    return migrate(fresh.url, createClock(offsetMs), { folder: sample.folder })
  }

  async function ledger(): Promise<{ version: string; applied_at: Date }[]> {
    return (await client.query('select version, applied_at from schema_migrations order by version')).rows
  }

  /** Does `work` while the database has another checksum of a migration. */
  async function withChecksum(version: string, checksum: string, work: () => Promise<void>): Promise<void> {
    const swap = 'update schema_migrations set checksum = $2 where version = $1'
    const { rows } = await client.query<{ checksum: string }>(
      'select checksum from schema_migrations where version = $1',
      [version],
    )
    await client.query(swap, [version, checksum])
    await work()
    await client.query(swap, [version, rows[0]?.checksum])
  }
})
