import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { createLogger } from '../../lib/logger.ts'
import { EnclaveOutOfReach } from '../errors.ts'
import { createReach, OUT_OF_REACH_MS, PROBE_EVERY_MS, type Reach } from './reach.ts'

describe('whether the enclave is in reach', () => {
  let nowMs: number
  let probes: number
  /** What a probe observes; it waits for `held`. */
  let probed: number | null
  let held: Promise<void>
  let reach: Reach
  beforeEach(() => {
    nowMs = 1_000_000
    probes = 0
    probed = null
    held = Promise.resolve()
    const probe = async (): Promise<void> => {
      probes += 1
      await held
      reach.observe(probed)
      if (probed === null) throw new Error('no response')
    }
    reach = createReach(probe, { clock: { now: () => new Date(nowMs) }, logger: createLogger('silent') })
  })

  test('a single failure means nothing, however long ago it was', async () => {
    reach.observe(null)
    nowMs += 10 * OUT_OF_REACH_MS
    await reach.requireInReach()
    assert.equal(probes, 0)
  })

  test('it is out of reach when calls have failed for some time, and any response ends that', async () => {
    fail()
    reach.observe(404)
    nowMs += OUT_OF_REACH_MS
    reach.observe(null)
    await reach.requireInReach()
    nowMs += OUT_OF_REACH_MS - 1
    reach.observe(null)
    await reach.requireInReach()
    nowMs += 1
    reach.observe(null)
    await assert.rejects(reach.requireInReach(), EnclaveOutOfReach)
    reach.observe(503)
    await reach.requireInReach()
  })

  test('the statuses of a gateway without a response count as failures', async () => {
    fail(504)
    await assert.rejects(reach.requireInReach(), EnclaveOutOfReach)
  })

  test('while it is out of reach, it is tried at most once in a while, for all that wait; then work goes on', async () => {
    fail()
    const gate = Promise.withResolvers<void>()
    held = gate.promise
    const waiting = Promise.allSettled([reach.requireInReach(), reach.requireInReach()])
    gate.resolve()
    assert.deepEqual(
      (await waiting).map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    assert.equal(probes, 1)
    probed = 404
    nowMs += PROBE_EVERY_MS - 1
    await assert.rejects(reach.requireInReach(), EnclaveOutOfReach)
    assert.equal(probes, 1)
    nowMs += 1
    await Promise.all([reach.requireInReach(), reach.requireInReach()])
    assert.equal(probes, 2)
    await reach.requireInReach()
    assert.equal(probes, 2)
  })

  function fail(status: number | null = null): void {
    reach.observe(status)
    nowMs += OUT_OF_REACH_MS
    reach.observe(status)
  }
})
