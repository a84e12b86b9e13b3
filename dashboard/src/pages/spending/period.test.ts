import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeText, parseChoice, toSearch } from './period.ts'

const parse = (query: string) => parseChoice(new URLSearchParams(query))

test('a choice survives its URL', () => {
  for (const query of [
    '?',
    '?period=last_month&by=recipient',
    '?period=custom&from=2026-10-01&to=2026-10-31&by=host',
  ]) {
    assert.equal(toSearch(parse(query)), query)
  }
})

test('parameters that are unknown or incomplete are ignored', () => {
  for (const query of ['?period=1y&by=colour', '?period=custom&from=2026-10-01', '?period=custom&from=x&to=y']) {
    assert.deepEqual(parse(query), { period: 'this_month', by: 'agent' })
  }
})

test('a change is a whole percentage of the amount before', () => {
  assert.equal(changeText(150n, 100n), '+50 %')
  assert.equal(changeText(0n, 100n), '−100 %')
  assert.equal(changeText(100_400n, 100_000n), '0 %')
  assert.equal(changeText(12_345n, 100n), '+12,245 %')
  assert.equal(changeText(5n, 0n), null)
})
