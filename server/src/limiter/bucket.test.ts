import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BUCKETS, rateState, retryAfterSeconds } from './bucket.ts'

const NOW = new Date(1_800_000_000_000)
const time = NOW.getTime()

describe('rateState', () => {
  test('the limits are those of the specification', () => {
    assert.deepEqual(BUCKETS, {
      default: { limit: 60, windowMs: 60_000 },
      payments: { limit: 30, windowMs: 60_000 },
    })
  })

  test('the window resets when its oldest request leaves it', () => {
    const state = rateState(BUCKETS.payments, [time, time - 10_000, time - 5_000], true, NOW)
    assert.deepEqual(state, { allowed: true, limit: 30, remaining: 27, resetAt: new Date(time + 50_000) })
  })

  test('nothing remains for a request that was rejected', () => {
    assert.equal(rateState(BUCKETS.default, [time - 1], false, NOW).remaining, 0)
  })

  test('an empty window resets after the length of one window', () => {
    assert.deepEqual(rateState(BUCKETS.default, [], true, NOW).resetAt, new Date(time + 60_000))
  })
})

describe('retryAfterSeconds', () => {
  const waits: readonly (readonly [number, number])[] = [
    [59_001, 60],
    [1_001, 2],
    [1_000, 1],
    [1, 1],
    [0, 1],
    [-5_000, 1],
  ]
  for (const [milliseconds, seconds] of waits) {
    test(`${milliseconds} ms are ${seconds} s`, () => {
      const state = { allowed: false, limit: 60, remaining: 0, resetAt: new Date(time + milliseconds) }
      assert.equal(retryAfterSeconds(state, NOW), seconds)
    })
  }
})
