import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { Database } from '../db/database.ts'
import { createLogger } from '../lib/logger.ts'
import { computed, nullable } from '../db/column.ts'
import { rowsOf, type Query } from '../db/query.ts'
import type { Bucket, RateState } from './bucket.ts'
import { countLimits, countRequestsOf, findWindow, openWindows, readCounted } from './limiter-store.ts'

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
        processes[index % 2 === 0 ? 0 : 1].write(countRequest(subject, 'default', new Date(START + (index % 7))), {
          mayBeLost: true,
        }),
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
    // If the rejected request had been counted, it would still be in this window.
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
    const state = await processes[1].read(findWindow(subject, 'payments', new Date(START + 1_000)))
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

  test('one statement counts several subjects, each within its own limit', async () => {
    const [full, free, alsoFree] = [await openSubject(), await openSubject(), await openSubject()]
    await fill(full, 'payments', START)
    const states = await processes[1].read(
      countRequests(
        [free, full, alsoFree].map((subject) => ({ subject, now: new Date(START) })),
        'payments',
      ),
    )
    assert.deepEqual(
      states.map((state) => state?.remaining),
      [29, undefined, 29],
    )
    assert.equal((await count(free, 'payments', START))?.remaining, 28)
  })

  test('a statement that contains a subject twice fails, and counts nothing', async () => {
    const subject = await openSubject()
    const twice = [subject, subject].map((one) => ({ subject: one, now: new Date(START) }))
    await assert.rejects(processes[0].read(countRequests(twice, 'default')), { code: '21000' })
    assert.equal((await count(subject, 'default', START))?.remaining, 59)
  })

  test('statements that count the same subjects in different orders never block each other for good', async () => {
    const subjects = await Promise.all(Array.from({ length: 20 }, openSubject))
    const requests = subjects.map((subject) => ({ subject, now: new Date(START) }))
    const states = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        processes[index % 2 === 0 ? 0 : 1].read(
          countRequests(index % 3 === 0 ? requests : requests.toReversed(), 'default'),
        ),
      ),
    )
    assert.ok(states.flat().every((state) => state !== null))
    for (const subject of subjects) assert.equal((await count(subject, 'default', START))?.remaining, 19)
  })

  test('opening windows again does not change them', async () => {
    const subject = await openSubject()
    await count(subject, 'default', START)
    await processes[0].write(openWindows(subject))
    assert.equal(await countRows(subject), 2)
    assert.equal((await count(subject, 'default', START))?.remaining, 58)
  })

  async function openSubject(): Promise<Buffer> {
    const subject = randomBytes(32)
    await processes[0].write(openWindows(subject))
    return subject
  }

  function count(subject: Buffer, bucket: Bucket, time: number) {
    return processes[0].write(countRequest(subject, bucket, new Date(time)), { mayBeLost: true })
  }

  async function fill(subject: Buffer, bucket: Bucket, time: number): Promise<void> {
    while ((await count(subject, bucket, time))?.remaining !== 0);
  }

  function countRows(subject: Buffer): Promise<number> {
    return processes[0].read({
      name: 'test_count_windows',
      text: 'select count(*) as rows from rate_windows where subject = $1',
      values: [subject],
      read: (rows) => Number(rows[0]?.['rows']),
    })
  }
})

/** Builds a statement that finds the subject and counts its request, as the service does. */
function countRequest(subject: Buffer, bucket: Bucket, now: Date): Query<RateState | null> {
  const { read, ...query } = countRequests([{ subject, now }], bucket)
  return { ...query, read: (rows, count) => read(rows, count)[0] ?? null }
}

function countRequests(
  requests: readonly { subject: Buffer; now: Date }[],
  bucket: Bucket,
): Query<(RateState | null)[]> {
  const given = 'unnest($1::bytea[], $5::int8[]) as given (subject, time)'
  return {
    name: 'test_count_requests',
    text: `with counted as (${countRequestsOf(`select subject, time from ${given}`)})
      select (select array_to_string(hits, ',') from counted where counted.subject = given.subject) as hits
      from unnest($1::bytea[]) with ordinality as given (subject, n) order by n`,
    values: [requests.map(({ subject }) => subject), ...countLimits(bucket), requests.map(({ now }) => now.getTime())],
    read: rowsOf({ hits: nullable(computed.text) }, (rows) =>
      requests.map(({ now }, index) => readCounted(rows[index]?.hits ?? null, bucket, now)),
    ),
  }
}
