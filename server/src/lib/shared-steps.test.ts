import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { STEP_MS, waitForStep } from './shared-steps.ts'

const NEVER = new AbortController().signal
/** Timers may fire a moment early or late. */
const PRECISION_MS = 6

describe('waits of loops', () => {
  test('waits of different lengths that begin at different times end in the same turn of the event loop', async () => {
    await waitForStep(STEP_MS, NEVER)
    const turns: number[] = []
    const wait = async (waitMs: number): Promise<void> => {
      await waitForStep(waitMs, NEVER)
      turns.push(performance.now())
    }
    const longer = wait(2 * STEP_MS)
    await waitForStep(STEP_MS, NEVER)
    let isLaterTurn = false
    await Promise.all([
      wait(STEP_MS).then(() => setImmediate(() => (isLaterTurn = true))),
      longer.then(() => assert.equal(isLaterTurn, false)),
    ])
    assert.equal(turns.length, 2)
  })

  test('a wait is at least half as long as asked for', async () => {
    for (const waitMs of [STEP_MS, 2 * STEP_MS]) {
      for (const begunMs of [0, 30, 90, 150]) {
        await waitForStep(STEP_MS, NEVER)
        const idleUntil = performance.now() + begunMs
        while (performance.now() < idleUntil);
        const startedAt = performance.now()
        await waitForStep(waitMs, NEVER)
        const tookMs = performance.now() - startedAt
        assert.ok(tookMs >= waitMs / 2 - PRECISION_MS, `${tookMs} ms instead of ${waitMs} ms`)
      }
    }
  })

  test('a time that is not a multiple of a step is kept', async () => {
    const startedAt = performance.now()
    await waitForStep(STEP_MS / 2 + 30, NEVER)
    assert.ok(performance.now() - startedAt >= STEP_MS / 2 + 30 - PRECISION_MS)
  })

  test('an aborted wait ends at once, and the others continue', async () => {
    const stopping = new AbortController()
    const ended: string[] = []
    const stopped = waitForStep(5 * STEP_MS, stopping.signal).then(() => ended.push('stopped'))
    const other = waitForStep(5 * STEP_MS, NEVER).then(() => ended.push('other'))
    stopping.abort()
    await stopped
    await waitForStep(5 * STEP_MS, stopping.signal)
    assert.deepEqual(ended, ['stopped'])
    await other
  })
})
