import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextAuthorizationLookupAt } from './authorization-lookup-schedule.ts'

const CREATED = new Date('2026-01-01T00:00:00Z')
const authorization = { nonce: '0x', validBefore: new Date(CREATED.getTime() + 120_000) } as const

/** The purchase's age in seconds, whether its authorization is used in a block, and the seconds until the next look. */
const ROWS: readonly (readonly [ageSeconds: number, isMined: boolean, seconds: number])[] = [
  [0, false, 1],
  [14, false, 1],
  [15, false, 5],
  [60, true, 1],
  [100, false, 5],
  [118, false, 2],
  [120, false, 2],
  [128, false, 2],
  [160, false, 10],
  [120 + 3_600, false, 300],
  [120 + 86_400, true, 300],
]

test('a purchase is looked at often while it is young, at once when it may have expired, and then less and less', () => {
  for (const [ageSeconds, isMined, seconds] of ROWS) {
    const now = new Date(CREATED.getTime() + ageSeconds * 1_000)
    const payment = { createdAt: CREATED, authorization, minedBlock: isMined ? 1n : null }
    assert.equal(
      (nextAuthorizationLookupAt(payment, now).getTime() - now.getTime()) / 1_000,
      seconds,
      `${ageSeconds} s`,
    )
  }
})
