import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatRemaining } from './format-remaining.ts'

const NOW = Date.UTC(2026, 10, 12, 12)

const rows = [
  [2 * 86_400 + 3 * 3_600 + 59, '2 d 3 h'],
  [2 * 86_400 - 60, '47 h 59 min'],
  [86_400, '24 h'],
  [86_399, '23 h 59 min'],
  [23 * 3_600 + 12 * 60 + 30, '23 h 12 min'],
  [3_600, '1 h'],
  [3_599, '59 min 59 s'],
  [250, '4 min 10 s'],
  [60, '1 min'],
  [59, '59 s'],
  [58.2, '59 s'],
  [0.4, '1 s'],
  [0, null],
  [-5, null],
] as const
for (const [seconds, text] of rows) {
  test(`${seconds} seconds are shown as ${text}`, () => {
    assert.equal(formatRemaining(new Date(NOW + seconds * 1_000).toISOString(), NOW), text)
  })
}

test('text that is not a time has no remaining time', () => assert.equal(formatRemaining('soon', NOW), null))
