import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { readRows } from '../../../test/support/database/read-rows.ts'
import { Database } from '../db/database.ts'
import { createLogger } from '../lib/logger.ts'
import { ATTEMPT_LIMITS, attemptRowEnd, type AttemptBucket } from './attempts.ts'
import { countAttempt, deleteEndedAttempts, findAttempts } from './limiter-store.ts'

const START = Date.UTC(2026, 0, 1, 10, 30)
const HOUR_MS = 3_600_000

test('the limits are those of D33', () => {
  assert.deepEqual(ATTEMPT_LIMITS, {
    token: { limit: 60, windowMs: 60_000 },
    revoke: { limit: 60, windowMs: 60_000 },
    register: { limit: 20, windowMs: 3_600_000 },
    client_document: { limit: 20, windowMs: 3_600_000 },
    authorize: { limit: 100, windowMs: 60_000 },
    sign_up: { limit: 10, windowMs: 3_600_000 },
    sign_in: { limit: 20, windowMs: 60_000 },
    dashboard: { limit: 300, windowMs: 60_000 },
    faucet: { limit: 10, windowMs: 3_600_000 },
    wallet_creation: { limit: 10, windowMs: 3_600_000 },
    log: { limit: 600, windowMs: 60_000 },
  })
})

test('a row expires at a full hour, and never before its window has ended', () => {
  const ends: readonly (readonly [AttemptBucket, string, string])[] = [
    ['sign_in', '10:00:00.000', '11:00:00.000'],
    ['sign_in', '10:59:00.000', '11:00:00.000'],
    ['sign_in', '10:59:00.001', '12:00:00.000'],
    ['register', '10:00:00.000', '11:00:00.000'],
    ['register', '10:00:00.001', '12:00:00.000'],
  ]
  for (const [bucket, now, end] of ends) {
    const row = attemptRowEnd(bucket, new Date(`2026-01-01T${now}Z`))
    assert.equal(row.toISOString(), `2026-01-01T${end}Z`, `${bucket} at ${now}`)
  }
})

describe('attempts', () => {
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

  test('exactly 20 of 100 parallel attempts of a new caller through two processes are counted', async () => {
    const subject = randomBytes(32)
    const states = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        processes[index % 2 === 0 ? 0 : 1].write(countAttempt(subject, 'sign_in', new Date(START + (index % 7))), {
          mayBeLost: true,
        }),
      ),
    )
    const remaining = states.flatMap((state) => (state === null ? [] : [state.remaining]))
    assert.deepEqual(
      remaining.toSorted((left, right) => right - left),
      Array.from({ length: 20 }, (_, index) => 19 - index),
    )
  })

  test('an attempt that is rejected is not counted, and the window slides', async () => {
    const subject = randomBytes(32)
    for (let index = 0; index < 20; index += 1) await count(subject, 'sign_in', START + index)
    assert.equal(await count(subject, 'sign_in', START + 59_999), null)
    assert.equal((await count(subject, 'sign_in', START + 60_000))?.remaining, 0)
    assert.equal(await count(subject, 'sign_in', START + 60_000), null)
    assert.equal((await count(subject, 'sign_in', START + 60_001))?.remaining, 0)
  })

  test('a caller who is rejected gets the time when the oldest attempt leaves the window', async () => {
    const subject = randomBytes(32)
    for (let index = 0; index < 20; index += 1) await count(subject, 'register', START + index)
    const state = await processes[1].read(findAttempts(subject, 'register', new Date(START + 1_000)))
    assert.deepEqual(state, { allowed: false, limit: 20, remaining: 0, resetAt: new Date(START + HOUR_MS) })
  })

  test('buckets and subjects are counted separately, and a clock that was set back blocks nobody', async () => {
    const subject = randomBytes(32)
    for (let index = 0; index < 20; index += 1) await count(subject, 'sign_in', START)
    assert.equal(await count(subject, 'sign_in', START), null)
    assert.equal((await count(subject, 'token', START))?.remaining, 59)
    assert.equal((await count(randomBytes(32), 'sign_in', START))?.remaining, 19)
    assert.equal((await count(subject, 'sign_in', START - 24 * HOUR_MS))?.remaining, 19)
  })

  test('only windows that have ended are deleted, a limited number at a time', async () => {
    await processes[0].write(deleteEndedAttempts(new Date(START + 1_000 * HOUR_MS), 10_000))
    for (let index = 0; index < 5; index += 1) await count(randomBytes(32), 'sign_in', START)
    const alive = randomBytes(32)
    await count(alive, 'sign_in', START)
    await count(alive, 'sign_in', START + HOUR_MS)
    const clean = (time: number) => processes[0].write(deleteEndedAttempts(new Date(time), 3))
    const end = attemptRowEnd('sign_in', new Date(START)).getTime()
    assert.equal(await clean(end - 1), 0)
    assert.deepEqual([await clean(end), await clean(end), await clean(end)], [3, 2, 0])
    const rows = await readRows(processes[0], 'select subject from attempt_windows')
    assert.deepEqual(
      rows.map((row) => row['subject'] as Buffer),
      [alive],
    )
  })

  function count(subject: Buffer, bucket: AttemptBucket, time: number) {
    return processes[0].write(countAttempt(subject, bucket, new Date(time)), { mayBeLost: true })
  }
})
