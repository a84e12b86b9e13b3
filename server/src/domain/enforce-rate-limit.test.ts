import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readRows } from '../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../test/support/context/test-context.ts'
import { enforceRateLimit } from './enforce-rate-limit.ts'

describe('enforceRateLimit', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  test('the 21st attempt within a minute gets 429 with the seconds to wait, and is allowed after that time', async () => {
    const start = given.clock.now().getTime()
    const take = (afterMs: number, subject = '192.0.2.1') =>
      enforceRateLimit(
        { db: given.context.db, clock: { now: () => new Date(start + afterMs) } },
        { subject, bucket: 'sign_in' },
      )
    for (let index = 0; index < 20; index += 1) await take(index * 1_000)
    await assert.rejects(take(19_500), {
      status: 429,
      code: 'rate_limit_exceeded',
      retryAfterSeconds: 41,
      message: 'Too many requests. Retry in 41 seconds.',
    })
    await take(19_500, '192.0.2.2')
    await take(60_000)
  })

  test('the subject itself is not stored', async () => {
    await enforceRateLimit(given.context, { subject: '198.51.100.7', bucket: 'token' })
    const rows = await readRows(given.context.db, 'select attempt_windows::text as row from attempt_windows')
    assert.ok(rows.length > 0)
    for (const row of rows) {
      assert.ok(!String(row['row']).includes('198.51.100.7'))
      assert.ok(!String(row['row']).includes(Buffer.from('198.51.100.7').toString('hex')))
    }
  })
})
