import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeliveryId, isSuccess, type AttemptOutcome } from './delivery.ts'
import { ATTEMPTS_MAX, decideNextStep, RETRY_DELAYS_MS } from './retry-schedule.ts'

const STARTED_AT = new Date('2026-03-01T12:00:00.000Z')
const MINUTE_MS = 60_000

describe('the schedule of a delivery', () => {
  test('the delays are 1 minute, 5 minutes, 15 minutes, 1 hour and 6 hours: six attempts', () => {
    assert.deepEqual(
      RETRY_DELAYS_MS.map((delay) => delay / MINUTE_MS),
      [1, 5, 15, 60, 360],
    )
    assert.equal(ATTEMPTS_MAX, 6)
  })

  for (const [index, waitMs] of RETRY_DELAYS_MS.entries()) {
    test(`after attempt ${index + 1} failed, the delivery waits ${waitMs / MINUTE_MS} minutes from the end of the attempt`, () => {
      const step = decideNextStep({ trigger: 'event' }, index + 1, outcome(500, { durationMs: 10_000 }))
      const nextAttemptAt = new Date(STARTED_AT.getTime() + 10_000 + waitMs)
      assert.deepEqual(step, { status: 'pending', nextAttemptAt })
    })
  }

  const ends: readonly { trigger: 'event' | 'replay' | 'test'; number: number; statusCode: number; status: string }[] =
    [
      { trigger: 'event', number: 6, statusCode: 500, status: 'failed' },
      { trigger: 'event', number: 6, statusCode: 200, status: 'succeeded' },
      { trigger: 'event', number: 1, statusCode: 204, status: 'succeeded' },
      { trigger: 'replay', number: 1, statusCode: 500, status: 'failed' },
      { trigger: 'replay', number: 1, statusCode: 200, status: 'succeeded' },
      { trigger: 'test', number: 1, statusCode: 404, status: 'failed' },
      { trigger: 'test', number: 1, statusCode: 299, status: 'succeeded' },
    ]
  for (const { trigger, number, statusCode, status } of ends) {
    test(`attempt ${number} of a delivery by ${trigger}, response ${statusCode}: ${status}`, () => {
      const step = decideNextStep({ trigger }, number, outcome(statusCode))
      assert.deepEqual(step, { status, nextAttemptAt: null })
    })
  }
})

test('only a complete 2xx response is a success', () => {
  for (const statusCode of [200, 201, 204, 299]) assert.ok(isSuccess(outcome(statusCode)), `${statusCode}`)
  for (const statusCode of [null, 101, 199, 300, 301, 304, 400, 410, 429, 500, 503]) {
    assert.ok(!isSuccess(outcome(statusCode)), `${statusCode}`)
  }
  assert.ok(!isSuccess(outcome(200, { error: 'timeout' })))
})

test("a delivery's id is derived from its event and endpoint, or newly generated; other texts are rejected", () => {
  const part = '01K2Z3Y4X5W6V7T8S9R0Q1P2N3'
  for (const id of [`dlv_${part}`, `dlv_${part}_${part}`]) assert.ok(isDeliveryId(id), id)
  const others = [
    '',
    'dlv_',
    part,
    `evt_${part}`,
    `dlv_${part}_`,
    `dlv_${part}_${part}_${part}`,
    `dlv_${part.toLowerCase()}`,
  ]
  for (const id of others) assert.ok(!isDeliveryId(id), id)
  assert.ok(!isDeliveryId(`dlv_${part}\n`))
})

function outcome(statusCode: number | null, changes: Partial<AttemptOutcome> = {}): AttemptOutcome {
  return { startedAt: STARTED_AT, durationMs: 25, statusCode, error: null, responseBody: null, ...changes }
}
