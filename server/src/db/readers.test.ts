import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { countWaitingFor, holdTable } from '../../../test/support/database/hold-table.ts'
import { readRows } from '../../../test/support/database/read-rows.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { createLogger } from '../lib/logger.ts'
import { Database } from './database.ts'
import { DatabaseUnavailable } from './errors.ts'
import type { Query } from './query.ts'

const READERS = 3
const READS_WAITING_MAX = 100

describe('reads that may take a long time', () => {
  let fresh: FreshDatabase
  let db: Database
  before(async () => {
    fresh = await createFreshDatabase({ empty: true })
    db = new Database({ url: fresh.url, connectionsMax: 2 }, createLogger('silent'))
    await readRows(db, 'create table held ()')
  })
  after(async () => {
    await db.close()
    await fresh.drop()
  })

  test('they use none of the other connections, and too many are rejected at once', async () => {
    const release = await holdTable(db, 'held')
    let answered = 0
    const reads = Array.from({ length: READERS + READS_WAITING_MAX }, async () => {
      await db.readSlow(READ_HELD).finally(() => {
        answered += 1
      })
    })
    const outcomes = Promise.allSettled(reads)
    await waitFor('all readers being busy', async () => (await countWaitingFor(db, 'held')) === READERS)
    await assert.rejects(db.readSlow(READ_HELD), DatabaseUnavailable)
    assert.deepEqual(await readRows(db, 'select 1 as one'), [{ one: 1 }])
    assert.equal(answered, 0)
    await release()
    assert.ok((await outcomes).slice(0, READERS).every(({ status }) => status === 'fulfilled'))
  })

  test('a read that takes too long is cancelled', async () => {
    await assert.rejects(db.readSlow({ ...READ_HELD, text: 'select pg_sleep(6)' }), (error: unknown) => {
      assert.ok(error instanceof DatabaseUnavailable)
      assert.equal((error.cause as { code: string }).code, '57014')
      return true
    })
  })

  test('several reads cost one round trip, and the first failure is thrown', async () => {
    const one: Query<unknown> = { name: '', text: 'select 1 as one', values: [], read: (rows) => rows[0]?.['one'] }
    assert.deepEqual(await db.readSlow([one, READ_HELD, one]), [1, 0, 1])
    const failing = { ...one, text: 'select 1 / 0' }
    await assert.rejects(db.readSlow([one, failing, one]), { code: '22012' })
    assert.deepEqual(await db.readSlow([one]), [1])
  })

  test('a read whose connection is lost throws DatabaseUnavailable, and the next read works', async () => {
    const sleep = db.readSlow({ name: '', text: `select pg_sleep(4), 'lost'`, values: [], read: () => null })
    const terminate = `select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep(4), ''lost''%'
      and pid <> pg_backend_pid() and datname = current_database()`
    await Promise.all([
      assert.rejects(sleep, DatabaseUnavailable),
      waitFor('its end', async () => (await readRows(db, terminate)).length > 0),
    ])
    assert.equal(await db.readSlow(READ_HELD), 0)
  })
})

const READ_HELD: Query<number> = {
  name: '',
  text: 'select count(*) as rows from held',
  values: [],
  read: (rows) => Number(rows[0]?.['rows']),
}
