import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWakeup } from './wakeup.ts'

const LONG_MS = 100_000

test('a ring wakes who waits, and is heard by who comes to wait after it', async () => {
  const wakeup = createWakeup()
  const waiting = wakeup.wait(LONG_MS)
  wakeup.wake()
  await waiting
  wakeup.wake()
  wakeup.wake()
  await wakeup.wait(LONG_MS)
})

test('a ring is heard once, and without one the time ends the wait', async () => {
  const wakeup = createWakeup()
  wakeup.wake()
  await wakeup.wait(LONG_MS)
  let woken = false
  const waiting = wakeup.wait(20).then(() => (woken = true))
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(woken, false)
  await waiting
})
