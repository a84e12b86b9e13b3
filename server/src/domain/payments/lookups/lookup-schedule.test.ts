import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nextLookupAt } from './lookup-schedule.ts'

const NOW = new Date('2026-06-01T12:00:00.000Z')

describe('nextLookupAt', () => {
  for (const [lookups, seconds] of [
    [0, 2],
    [1, 4],
    [5, 64],
    [8, 512],
    [9, 600],
    [1_000_000, 600],
  ] as const) {
    it(`is ${seconds} s later after ${lookups} look-ups`, () => {
      assert.equal(nextLookupAt(lookups, NOW).getTime() - NOW.getTime(), seconds * 1_000)
    })
  }
})
