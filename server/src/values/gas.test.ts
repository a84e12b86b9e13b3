import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coinOf, formatCoin } from './gas.ts'

test('wei are formatted as the shortest decimal string of whole coins', () => {
  const cases: readonly (readonly [bigint, string])[] = [
    [0n, '0'],
    [1n, '0.000000000000000001'],
    [150_000_000_000_000_000n, '0.15'],
    [10n ** 18n, '1'],
    [12_345_678_900_000_000_000n, '12.3456789'],
  ]
  for (const [wei, text] of cases) assert.equal(formatCoin(wei), text)
})

test('the coin of a chain is ETH, unless the chain is known to have another one', () => {
  assert.deepEqual([8453, 84532, 1, 137].map(coinOf), ['ETH', 'ETH', 'ETH', 'POL'])
})
