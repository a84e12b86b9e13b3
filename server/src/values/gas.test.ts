import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coinOf, formatCoin } from './gas.ts'

test('wei are formatted as the shortest decimal string in units of the native coin', () => {
  const cases: readonly (readonly [bigint, string])[] = [
    [0n, '0'],
    [1n, '0.000000000000000001'],
    [150_000_000_000_000_000n, '0.15'],
    [10n ** 18n, '1'],
    [12_345_678_900_000_000_000n, '12.3456789'],
  ]
  for (const [wei, text] of cases) assert.equal(formatCoin(wei), text)
})

test('the native coin of a chain is ETH, unless we know that the chain has another one', () => {
  assert.deepEqual([8453, 84532, 1, 137].map(coinOf), ['ETH', 'ETH', 'ETH', 'POL'])
})
