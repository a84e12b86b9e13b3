import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nextLookAt } from './look-schedule.ts'

const NOW = new Date('2026-06-01T12:00:00.000Z')

describe('nextLookAt', () => {
  for (const [looks, seconds] of [
    [0, 2],
    [1, 4],
    [5, 64],
    [8, 512],
    [9, 600],
    [1_000_000, 600],
  ] as const) {
    it(`is ${seconds} s away after ${looks} looks`, () => {
      assert.equal(nextLookAt(looks, NOW).getTime() - NOW.getTime(), seconds * 1_000)
    })
  }
})
