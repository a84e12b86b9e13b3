import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseSpendScale, barSpan, stackBar, sumBar } from './spend-bars.ts'

const agents = [{ bars_usdc: ['5', '1'] }, { bars_usdc: ['3', '0'] }, { bars_usdc: ['2', '0'] }]

test('a bar is the sum of its segments, which are stacked', () => {
  assert.equal(sumBar(agents, 0), 10_000_000n)
  const scale = chooseSpendScale(agents, 2)
  assert.equal(scale.topMicro, 10_000_000n)
  assert.deepEqual(stackBar(agents, 0, scale), [
    { series: 0, top: 50, height: 50 },
    { series: 1, top: 20, height: 30 },
    { series: 2, top: 0, height: 20 },
  ])
})

test('an agent that spent nothing has no segment', () => {
  assert.deepEqual(stackBar(agents, 1, chooseSpendScale(agents, 2)), [{ series: 0, top: 90, height: 10 }])
})

test('a bar spans the time until the next bar, and the last one until the end', () => {
  const chart = { bars_at: ['2026-11-21T13:00:00.000Z', '2026-11-21T14:00:00.000Z'], end: '2026-11-21T15:00:00.000Z' }
  assert.deepEqual(barSpan(chart, 0), { from: chart.bars_at[0], to: chart.bars_at[1] })
  assert.deepEqual(barSpan(chart, 1), { from: chart.bars_at[1], to: chart.end })
})
