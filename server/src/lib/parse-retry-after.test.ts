import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseRetryAfterMs } from './parse-retry-after.ts'

const DATE = 'Wed, 21 Oct 2026 07:28:00 GMT'

describe('parseRetryAfterMs', () => {
  const table: [string, Record<string, string>, number | null][] = [
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['no time at all', { 'retry-after': '0' }, 0],
    [
      'a date, counted from the date of the response',
      { 'retry-after': 'Wed, 21 Oct 2026 07:28:09 GMT', date: DATE },
      9_000,
    ],
    ['a date in the past', { 'retry-after': 'Wed, 21 Oct 2026 07:27:00 GMT', date: DATE }, 0],
    ['a date in a response without one', { 'retry-after': DATE }, null],
    ['nothing', { date: DATE }, null],
    ['something else', { 'retry-after': 'soon', date: DATE }, null],
    ['a negative number', { 'retry-after': '-1', date: 'never' }, null],
  ]
  for (const [name, headers, expected] of table) {
    test(`it reads ${name}`, () => assert.equal(parseRetryAfterMs(new Headers(headers)), expected))
  }
})
