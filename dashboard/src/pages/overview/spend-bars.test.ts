import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseSpendScale, barSpan, stackBar, sumBar } from './spend-bars.ts'

const spend = [
  { agent_id: 'a', total_usdc: '6', bars_usdc: ['5', '1'] },
  { agent_id: 'b', total_usdc: '3', bars_usdc: ['3', '0'] },
  { agent_id: null, total_usdc: '2', bars_usdc: ['2', '0'] },
]
const bars_at = ['2026-11-21T13:00:00.000Z', '2026-11-21T14:00:00.000Z']

test('a bar is the sum of its segments, which are stacked', () => {
  assert.equal(sumBar(spend, 0), 10_000_000n)
  const scale = chooseSpendScale({ spend, bars_at })
  assert.equal(scale.topMicro, 10_000_000n)
  assert.deepEqual(stackBar(spend, 0, scale), [
    { series: 0, top: 50, height: 50 },
    { series: 1, top: 20, height: 30 },
    { series: 2, top: 0, height: 20 },
  ])
})

test('an agent that spent nothing has no segment', () => {
  assert.deepEqual(stackBar(spend, 1, chooseSpendScale({ spend, bars_at })), [{ series: 0, top: 90, height: 10 }])
})

test('a bar spans the time until the next bar', () => {
  assert.deepEqual(barSpan({ bars_at, bar_seconds: 3_600 }, 0), { from: bars_at[0], to: bars_at[1] })
})
