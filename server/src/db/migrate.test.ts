import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { createClock } from '../lib/clock.ts'
import { migrate } from './migrate.ts'

const FILES = readdirSync(new URL('../../migrations/', import.meta.url)).toSorted()
/** How many times the race is run. Two processes can collide in several places, but do not collide every time. */
const ROUNDS = 5

describe('migrate', () => {
  let fresh: FreshDatabase
  let client: pg.Client
  before(async () => {
    fresh = await createFreshDatabase({ empty: true })
    client = new pg.Client({ connectionString: fresh.url })
    await client.connect()
  })
  after(async () => {
    await client.end()
    await fresh.drop()
  })

  test('processes that start at once on an empty database all succeed, and each file is applied once', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await client.query('drop schema public cascade')
      await client.query('create schema public')
      await Promise.all(Array.from({ length: 6 }, () => migrate(fresh.url, createClock())))
      assert.deepEqual(
        (await ledger()).map(({ version }) => version),
        FILES.map((file) => file.slice(0, 4)),
      )
    }
    assert.equal((await client.query('select 1 from payments')).rowCount, 0)
  })

  test('a second run changes nothing', async () => {
    const before = await ledger()
    await migrate(fresh.url, createClock(1_000_000))
    assert.deepEqual(await ledger(), before)
  })

  test('a file that was changed after it was applied is rejected with its number', async () => {
    const { rows } = await client.query<{ checksum: string }>(
      "select checksum from schema_migrations where version = '0001'",
    )
    await client.query("update schema_migrations set checksum = 'other' where version = '0001'")
    await assert.rejects(migrate(fresh.url, createClock()), /migration 0001 was changed after it was applied/)
    await client.query("update schema_migrations set checksum = $1 where version = '0001'", [rows[0]?.checksum])
    await migrate(fresh.url, createClock())
  })

  async function ledger(): Promise<{ version: string; applied_at: Date }[]> {
    return (await client.query('select version, applied_at from schema_migrations order by version')).rows
  }
})
