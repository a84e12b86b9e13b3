import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listTicks } from './list-ticks.ts'

/** The starts of consecutive local days, or of the hours of a day, and the end of the last one. */
function bars(count: number, step: 'day' | 'hour'): [string[], string] {
  const at = (bar: number) => (step === 'day' ? new Date(2026, 10, 1 + bar) : new Date(2026, 10, 1, bar)).toISOString()
  return [Array.from({ length: count }, (_, bar) => at(bar)), at(count)]
}

test('the hours of a day have a label every six hours, and one at the end', () => {
  assert.deepEqual(
    listTicks(...bars(24, 'hour')).map(({ part, text }) => [part, text]),
    [
      [0, '00:00'],
      [0.25, '06:00'],
      [0.5, '12:00'],
      [0.75, '18:00'],
      [1, '00:00'],
    ],
  )
})

test('a month has a few labels, and its first and its last day are among them', () => {
  const ticks = listTicks(...bars(30, 'day'))
  assert.deepEqual(
    ticks.map(({ text }) => text),
    ['1 Nov', '9 Nov', '17 Nov', '30 Nov'],
  )
  assert.equal(ticks.at(-1)?.part, 29.5 / 30)
})

for (const count of [1, 2, 7, 31, 92]) {
  test(`${count} days have labels that do not overlap`, () => {
    const ticks = listTicks(...bars(count, 'day'))
    assert.ok(ticks.length >= 1 && ticks.length <= 7, `${ticks.length}`)
    const gaps = ticks.slice(1).map(({ part }, index) => part - (ticks[index]?.part ?? 0))
    assert.ok(gaps.every((gap) => gap > 0.24))
  })
}
