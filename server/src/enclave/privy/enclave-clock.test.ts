import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Logger } from '../../lib/logger.ts'
import { createEnclaveClock } from './enclave-clock.ts'

const NOON = new Date('2026-06-01T12:00:00.000Z')

function open() {
  const told: unknown[] = []
  const logger = { error: (line: unknown) => told.push(line) } as unknown as Logger
  const clock = createEnclaveClock({ clock: { now: () => NOON }, logger })
  return { clock, told }
}

/** Observes a response that took `tripMs`, from an enclave whose clock is `aheadMs` ahead of ours. */
function observe(clock: ReturnType<typeof open>['clock'], aheadMs: number, { tripMs = 100, atMs = 0 } = {}) {
  const sentAt = new Date(NOON.getTime() + atMs)
  const receivedAt = new Date(sentAt.getTime() + tripMs)
  return clock.observe(new Date(sentAt.getTime() + tripMs / 2 + aheadMs).toUTCString(), { sentAt, receivedAt })
}

describe("the enclave's clock", () => {
  for (const aheadMs of [-86_400_000, -30_000, -2_000, 2_000, 60_000]) {
    it(`is measured when it is ${aheadMs} ms ahead of ours, to about a second`, () => {
      const { clock } = open()
      observe(clock, aheadMs)
      const skewMs = clock.toEnclaveTime(NOON).getTime() - NOON.getTime()
      assert.ok(Math.abs(skewMs - aheadMs) <= 1_000, String(skewMs))
    })
  }

  for (const aheadMs of [-900, 0, 900]) {
    it(`counts as equal to ours when it is ${aheadMs} ms ahead, because a header has whole seconds`, () => {
      const { clock, told } = open()
      observe(clock, aheadMs)
      assert.deepEqual(clock.toEnclaveTime(NOON), NOON)
      assert.deepEqual(told, [])
    })
  }

  it('is logged if it differs by more than 2 seconds: once, and again after ten minutes', () => {
    const { clock, told } = open()
    for (const atMs of [0, 1_000, 2_000]) observe(clock, 30_000, { atMs })
    assert.equal(told.length, 1)
    observe(clock, 30_000, { atMs: 601_000 })
    assert.equal(told.length, 2)
  })

  it('is not measured by a response without a date, or with a malformed one', () => {
    const { clock } = open()
    const times = { sentAt: NOON, receivedAt: NOON }
    assert.equal(clock.observe(null, times), null)
    assert.equal(clock.observe('yesterday', times), null)
    assert.deepEqual(clock.now(), NOON)
  })
})
