import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isPlan, monthOf, nextMonthOf, PLANS } from './plan.ts'

describe('plans', () => {
  test('each plan has the specified limits (D10, D12, D93)', () => {
    assert.deepEqual(PLANS, {
      developer: {
        ...{ agentsMax: 100, walletsMax: 3, monthlyAllowance: 1_000 },
        answerBytesMax: { test: 134_217_728, live: 536_870_912 },
      },
      pro: {
        ...{ agentsMax: 10_000, walletsMax: 100, monthlyAllowance: 50_000 },
        answerBytesMax: { test: 536_870_912, live: 4_294_967_296 },
      },
      scale: {
        ...{ agentsMax: null, walletsMax: null, monthlyAllowance: null },
        answerBytesMax: { test: 2_147_483_648, live: 17_179_869_184 },
      },
    })
  })

  test('only the names of plans are accepted as plans', () => {
    assert.deepEqual(['developer', 'pro', 'scale'].map(isPlan), [true, true, true])
    assert.deepEqual(['', 'Pro', 'toString', '__proto__', 'constructor'].map(isPlan), [
      false,
      false,
      false,
      false,
      false,
    ])
  })

  const months: readonly (readonly [string, string, string])[] = [
    ['2026-01-01T00:00:00.000Z', '2026-01-01', '2026-02-01T00:00:00.000Z'],
    ['2026-01-31T23:59:59.999Z', '2026-01-01', '2026-02-01T00:00:00.000Z'],
    ['2026-12-31T23:59:59.999Z', '2026-12-01', '2027-01-01T00:00:00.000Z'],
    ['2028-02-29T12:00:00.000Z', '2028-02-01', '2028-03-01T00:00:00.000Z'],
    ['2026-03-01T00:30:00.000+02:00', '2026-02-01', '2026-03-01T00:00:00.000Z'],
  ]
  for (const [time, month, next] of months) {
    test(`${time} is in the month of ${month}, and the next one begins at ${next}`, () => {
      assert.equal(monthOf(new Date(time)), month)
      assert.equal(nextMonthOf(new Date(time)).toISOString(), next)
    })
  }
})
