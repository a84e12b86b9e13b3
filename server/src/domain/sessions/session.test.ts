import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isProofRecent, RECENT_PROOF_MS } from '../require-recent-proof.ts'
import { isAlive, SESSION_IDLE_MS, SESSION_MS, parseDeviceName } from './session.ts'

const START = Date.UTC(2026, 0, 1)
const HOUR_MS = 3_600_000

describe('a session', () => {
  test('its idle and total lifetimes are as specified (D47)', () => {
    assert.deepEqual([SESSION_IDLE_MS, SESSION_MS, RECENT_PROOF_MS], [12 * HOUR_MS, 7 * 24 * HOUR_MS, 600_000])
  })

  const ends: readonly (readonly [string, number, number, boolean])[] = [
    ['just made', 0, 0, true],
    ['idle for a moment less than 12 hours', 0, 12 * HOUR_MS - 1, true],
    ['idle for 12 hours', 0, 12 * HOUR_MS, false],
    ['seen all the time, a moment less than 7 days old', 167 * HOUR_MS, 168 * HOUR_MS - 1, true],
    ['seen all the time, 7 days old', 168 * HOUR_MS - 1, 168 * HOUR_MS, false],
  ]
  for (const [what, seenMs, nowMs, alive] of ends) {
    test(`${what}: ${alive ? 'alive' : 'ended'}`, () => {
      const session = { lastSeenAt: new Date(START + seenMs), expiresAt: new Date(START + SESSION_MS) }
      assert.equal(isAlive(session, new Date(START + nowMs)), alive)
    })
  }

  test('a proof is recent for just under 10 minutes', () => {
    const session = { verifiedAt: new Date(START) }
    assert.deepEqual(
      [0, 599_999, 600_000].map((ms) => isProofRecent(session, new Date(START + ms))),
      [true, true, false],
    )
  })

  test("the browser's description is cut to length, and can always be stored", () => {
    assert.equal(parseDeviceName('x'.repeat(1_000)).length, 200)
    assert.equal(parseDeviceName('a\u0000b'), 'ab')
    assert.equal(parseDeviceName(`${'x'.repeat(199)}🤖🤖`), `${'x'.repeat(199)}🤖`)
    assert.equal(parseDeviceName('a\ud83e'), 'a\ufffd')
  })
})
