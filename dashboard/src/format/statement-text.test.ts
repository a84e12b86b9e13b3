import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addMonths, formatMonth, formatUtcTime } from './statement-text.ts'

test('months and times of statements are in UTC, in every time zone', () => {
  assert.equal(formatMonth('2026-10'), 'October 2026')
  assert.equal(formatUtcTime('2026-10-31T23:59:59.000Z'), '31 Oct, 23:59')
})

test('the next month and the one before cross the year', () => {
  assert.equal(addMonths('2026-12', 1), '2027-01')
  assert.equal(addMonths('2026-01', -1), '2025-12')
})
