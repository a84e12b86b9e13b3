import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listTicks } from './list-ticks.ts'

const HOUR_MS = 3_600_000
const NOW = Date.parse('2026-11-21T15:00:00.000Z')

test('a day gets a few round hours of local time', () => {
  const ticks = listTicks(NOW - 24 * HOUR_MS, NOW)
  assert.equal(ticks.length, 4)
  for (const { atMs, text } of ticks) {
    assert.match(text, /^(00|06|12|18):00$/)
    assert.ok(atMs >= NOW - 24 * HOUR_MS && atMs < NOW)
  }
})

for (const days of [7, 30]) {
  test(`${days} days get a few local midnights`, () => {
    const ticks = listTicks(NOW - days * 24 * HOUR_MS, NOW)
    assert.ok(ticks.length >= 2 && ticks.length <= 4, `${ticks.length}`)
    for (const { atMs, text } of ticks) {
      assert.equal(new Date(atMs).getHours(), 0)
      assert.match(text, /^\d{1,2} (Oct|Nov)$/)
    }
  })
}
