import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseTime, TIME_RULE, timeRuleOf } from './time.ts'

describe('times', () => {
  const times: readonly (readonly [string, string])[] = [
    ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T12:00:00.1234Z', '2026-03-01T12:00:00.123Z'],
    ['2026-03-01T12:00:00+05:30', '2026-03-01T06:30:00.000Z'],
    ['2026-03-01T23:59:59.999-01:00', '2026-03-02T00:59:59.999Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ]
  for (const [text, expected] of times) {
    test(`${text} is a time, to the millisecond`, () => assert.equal(parseTime(text)?.toISOString(), expected))
  }

  const others = [
    ...['', 'now', '2026', '2026-03-01', '2026-03-01T12:00:00', '2026-03-01 12:00:00Z', '2026-03-01T12:00Z'],
    ...['2026-13-01T00:00:00Z', '2026-03-32T00:00:00Z', '2026-03-01T25:00:00Z', '2026-03-01T12:60:00Z'],
    ...['2026-02-30T00:00:00Z', '2026-03-01T12:00:00z', '2026-03-01T12:00:00Z\n', ' 2026-03-01T12:00:00Z'],
    ...['+002026-03-01T12:00:00Z', '2026-03-01T12:00:00+0530', '2026-03-01T12:00:00.Z', '1772366400'],
  ]
  for (const text of others) {
    test(`${JSON.stringify(text)} is not a time`, () => assert.equal(parseTime(text), null))
  }

  test('a time whose + arrived as a space is told how to write it, and no other text is', () => {
    assert.match(timeRuleOf('2026-03-01T12:00:00 05:30'), /write it as %2B$/)
    for (const text of [...others, '2026-03-01T12:00:00 0530', '2026-02-30T12:00:00 05:30', ' 05:30', null, ['x']]) {
      assert.equal(timeRuleOf(text), TIME_RULE)
    }
  })
})
