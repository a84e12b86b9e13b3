import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWakeup } from './wakeup.ts'

const LONG_MS = 100_000

test('wake() ends the current wait, or the next one if nobody waits', async () => {
  const wakeup = createWakeup()
  const waiting = wakeup.wait(LONG_MS)
  wakeup.wake()
  await waiting
  wakeup.wake()
  wakeup.wake()
  await wakeup.wait(LONG_MS)
})

test('wake() ends one wait only; without it, the wait ends after its time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const wakeup = createWakeup()
  wakeup.wake()
  await wakeup.wait(LONG_MS)
  let isOver = false
  const waiting = wakeup.wait(LONG_MS).then(() => (isOver = true))
  t.mock.timers.tick(LONG_MS - 1)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isOver, false)
  t.mock.timers.tick(1)
  await waiting
})
