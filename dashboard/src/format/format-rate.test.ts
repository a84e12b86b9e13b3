import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatRate } from './format-rate.ts'

test('a rate is never rounded up', () => {
  const rows = [
    [1, 1, '100%'],
    [9_999, 10_000, '99.9%'],
    [1, 3, '33.3%'],
    [0, 5, '0%'],
    [0, 0, null],
  ] as const
  for (const [part, whole, text] of rows) assert.equal(formatRate(part, whole), text)
})
