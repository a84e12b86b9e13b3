import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { rotateKey } from '../../server/src/domain/keys/rotate-key.ts'
import { expectError, type Answer, type Call } from '../support/http-client.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'

const WINDOW_MS = 60_000

describe('rate limits over HTTP', () => {
  let given: TestService
  let seeded: Seed
  before(async () => {
    given = await openTestService()
    seeded = await seed(given.context)
  })
  after(() => given.close())

  const buckets: readonly (readonly [string, number, Call])[] = [
    ['default', 60, { path: '/v1/me' }],
    ['payments', 30, { path: '/v1/payments', body: {} }],
  ]
  for (const [name, limit, call] of buckets) {
    test(`the limit "${name}" accepts ${limit} requests in 60 seconds, whatever their result, and each response shows it`, async () => {
      given.service.clock.setOffset(0)
      const key = await given.issueKey(seeded)
      const startedAt = Date.now()
      for (let remaining = limit - 1; remaining >= 0; remaining -= 1) {
        const answer = await given.call({ ...call, key })
        assert.notEqual(answer.status, 429)
        expectRate(answer, { limit, remaining, startedAt })
      }
      const answer = await given.call({ ...call, key })
      const { message } = expectError(answer, { type: 'rate_limited', code: 'rate_limit_exceeded' })
      expectRate(answer, { limit, remaining: 0, startedAt })
      const seconds = Number(answer.headers['retry-after'])
      assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60)
      assert.match(message, new RegExp(`\\b${seconds} seconds\\b`))
      given.service.clock.setOffset(WINDOW_MS)
      assert.notEqual((await given.call({ ...call, key })).status, 429)
    })
  }

  test('the limit is checked before the body, the path and the requested item', async () => {
    given.service.clock.setOffset(0)
    const key = await given.issueKey(seeded)
    await exhaust(key)
    const calls: Call[] = [
      { path: '/v1/agents', body: 'not JSON' },
      { path: '/v1/agents', body: 'x', type: 'text/plain' },
      { path: '/v1/agents/nobody' },
      { path: '/v1/payments/pay_1' },
    ]
    for (const call of calls) {
      expectError(await given.call({ ...call, key }), { type: 'rate_limited', code: 'rate_limit_exceeded' })
    }
    assert.equal((await given.call({ path: '/v1/payments', key, body: {} })).status, 400)
  })

  test('another key of the same workspace, and the new key of a rotation, have their own limits', async () => {
    given.service.clock.setOffset(0)
    const [key, other] = [await given.issueKey(seeded), await given.issueKey(seeded)]
    await exhaust(key)
    assert.equal((await given.call({ path: '/v1/me', key: other })).status, 200)
    const { secret } = await rotateKey(given.context, { secret: key, actor: OPERATOR })
    assert.equal((await given.call({ path: '/v1/me', key: secret })).headers['x-ratelimit-remaining'], '59')
    assert.equal((await given.call({ path: '/v1/me', key })).status, 429)
  })

  test('of 80 requests at once, exactly 60 are accepted', async () => {
    given.service.clock.setOffset(0)
    const key = await given.issueKey(seeded)
    // On a slow machine, many more requests would wait for so long that they are turned away.
    const answers = await Promise.all(Array.from({ length: 80 }, () => given.call({ path: '/v1/me', key })))
    assert.equal(answers.filter(({ status }) => status === 200).length, 60)
    assert.equal(answers.filter(({ status }) => status === 429).length, 20)
  })

  async function exhaust(key: string): Promise<void> {
    await Promise.all(Array.from({ length: 60 }, () => given.call({ path: '/v1/me', key })))
  }
})

function expectRate(
  answer: Answer,
  { limit, remaining, startedAt }: { limit: number; remaining: number; startedAt: number },
): void {
  assert.equal(answer.headers['x-ratelimit-limit'], String(limit))
  assert.equal(answer.headers['x-ratelimit-remaining'], String(remaining))
  const reset = Number(answer.headers['x-ratelimit-reset'])
  assert.ok(reset >= startedAt + WINDOW_MS && reset <= Date.now() + WINDOW_MS, 'milliseconds, a window after the first')
}
