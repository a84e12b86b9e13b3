import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { Database } from '../db/database.ts'
import { createLogger } from '../lib/logger.ts'
import { computed, nullable } from '../db/column.ts'
import { one, type Query } from '../db/query.ts'
import type { Bucket, RateState } from './bucket.ts'
import { countRequestOf, countValues, findWindow, openWindows, readCounted } from './limiter-store.ts'

const START = Date.UTC(2026, 0, 1)

describe('the limiter', () => {
  let fresh: FreshDatabase
  let processes: readonly [Database, Database]
  before(async () => {
    fresh = await createFreshDatabase()
    const open = () => new Database({ url: fresh.url, connectionsMax: 2 }, createLogger('silent'))
    processes = [open(), open()]
  })
  after(async () => {
    await Promise.all(processes.map((db) => db.close()))
    await fresh.drop()
  })

  test('exactly 60 of 200 parallel requests through two processes are counted', async () => {
    const subject = await openSubject()
    const states = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        processes[index % 2 === 0 ? 0 : 1].runRelaxed(countRequest(subject, 'default', new Date(START + (index % 7)))),
      ),
    )
    const remaining = states.flatMap((state) => (state === null ? [] : [state.remaining]))
    assert.deepEqual(
      remaining.toSorted((left, right) => right - left),
      Array.from({ length: 60 }, (_, index) => 59 - index),
    )
  })

  test('a request that is rejected is not counted', async () => {
    const subject = await openSubject()
    await fill(subject, 'payments', START)
    assert.equal(await count(subject, 'payments', START + 59_999), null)
    // If the previous request had been counted, it would still be in this window.
    const state = await count(subject, 'payments', START + 60_000)
    assert.equal(state?.remaining, 29)
  })

  test('the window slides: when a request leaves it, another one is allowed', async () => {
    const subject = await openSubject()
    for (let index = 0; index < 30; index += 1) await count(subject, 'payments', START + index * 1_000)
    assert.equal(await count(subject, 'payments', START + 59_999), null)
    assert.equal((await count(subject, 'payments', START + 60_000))?.remaining, 0)
    assert.equal(await count(subject, 'payments', START + 60_999), null)
    assert.equal((await count(subject, 'payments', START + 61_000))?.remaining, 0)
  })

  test('a caller who is rejected gets the time when the oldest request leaves the window', async () => {
    const subject = await openSubject()
    await fill(subject, 'payments', START)
    assert.equal(await count(subject, 'payments', START + 1_000), null)
    const state = await processes[1].runRelaxed(findWindow(subject, 'payments', new Date(START + 1_000)))
    assert.deepEqual(state, { allowed: false, limit: 30, remaining: 0, resetAt: new Date(START + 60_000) })
  })

  test('the buckets of one key, and the keys of one bucket, are counted separately', async () => {
    const [subject, other] = [await openSubject(), await openSubject()]
    await fill(subject, 'payments', START)
    assert.equal(await count(subject, 'payments', START), null)
    assert.equal((await count(subject, 'default', START))?.remaining, 59)
    assert.equal((await count(other, 'payments', START))?.remaining, 29)
  })

  test('a clock that was set back blocks no key', async () => {
    const subject = await openSubject()
    await fill(subject, 'payments', START)
    assert.equal((await count(subject, 'payments', START - 86_400_000))?.remaining, 29)
  })

  test('a subject without windows is never counted, and adds no row', async () => {
    const subject = randomBytes(32)
    assert.equal(await count(subject, 'default', START), null)
    assert.equal(await countRows(subject), 0)
  })

  test('opening windows again does not change them', async () => {
    const subject = await openSubject()
    await count(subject, 'default', START)
    await processes[0].runDurable(openWindows(subject))
    assert.equal(await countRows(subject), 2)
    assert.equal((await count(subject, 'default', START))?.remaining, 58)
  })

  async function openSubject(): Promise<Buffer> {
    const subject = randomBytes(32)
    await processes[0].runDurable(openWindows(subject))
    return subject
  }

  function count(subject: Buffer, bucket: Bucket, time: number) {
    return processes[0].runRelaxed(countRequest(subject, bucket, new Date(time)))
  }

  async function fill(subject: Buffer, bucket: Bucket, time: number): Promise<void> {
    while ((await count(subject, bucket, time))?.remaining !== 0);
  }

  function countRows(subject: Buffer): Promise<number> {
    return processes[0].runRelaxed({
      name: 'test_count_windows',
      text: 'select count(*) as rows from rate_windows where subject = $1',
      values: [subject],
      read: (rows) => Number(rows[0]?.['rows']),
    })
  }
})

/** Builds a statement that finds the subject and counts its request, as the service does. */
function countRequest(subject: Buffer, bucket: Bucket, now: Date): Query<RateState | null> {
  return {
    name: 'test_count_request',
    text: `with counted as (${countRequestOf('$1')}) select (select hits from counted) as hits`,
    values: countValues(subject, bucket, now),
    read: one({ hits: nullable(computed.text) }, (row) => readCounted(row.hits, bucket, now)),
  }
}
