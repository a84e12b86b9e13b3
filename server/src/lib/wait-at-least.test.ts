import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readProcessMs } from './clock.ts'
import { waitAtLeast } from './wait-at-least.ts'

test('a wait is never shorter than it should be, although the turn of the event loop has taken long already', async () => {
  for (const milliseconds of [1, 5, 20, 0, -5]) {
    const turn = readProcessMs() + 10
    while (readProcessMs() < turn);
    const start = readProcessMs()
    await waitAtLeast(milliseconds)
    assert.ok(readProcessMs() - start >= milliseconds)
  }
})
