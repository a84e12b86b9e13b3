import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBell } from './bell.ts'

const LONG_MS = 100_000

test('a ring wakes who waits, and is heard by who comes to wait after it', async () => {
  const bell = createBell()
  const waiting = bell.wait(LONG_MS)
  bell.ring()
  await waiting
  bell.ring()
  bell.ring()
  await bell.wait(LONG_MS)
})

test('a ring is heard once, and without one the time ends the wait', async () => {
  const bell = createBell()
  bell.ring()
  await bell.wait(LONG_MS)
  let woken = false
  const waiting = bell.wait(20).then(() => (woken = true))
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(woken, false)
  await waiting
})
