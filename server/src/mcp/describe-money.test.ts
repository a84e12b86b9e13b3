import assert from 'node:assert/strict'
import { test } from 'node:test'
import { microUsdc } from '../values/money.ts'
import { describeAmount } from './describe-money.ts'

const AMOUNTS: readonly (readonly [bigint, string])[] = [
  [1n, '0.000001 USDC (0.0001 cents; test money, without value)'],
  [10_000n, '0.01 USDC (1 cent; test money, without value)'],
  [10_001n, '0.010001 USDC (1.0001 cents; test money, without value)'],
  [12_500n, '0.0125 USDC (1.25 cents; test money, without value)'],
  [1_000_000n, '1 USDC (1 dollar; test money, without value)'],
  [1_250_000n, '1.25 USDC (1 dollar and 25 cents; test money, without value)'],
  [125_000_000n, '125 USDC (125 dollars; test money, without value)'],
  [10n ** 21n, '1000000000000000 USDC (1000000000000000 dollars; test money, without value)'],
]

for (const [micro, words] of AMOUNTS) {
  test(`${micro} micro-USDC are ${words}`, () => {
    assert.equal(describeAmount(microUsdc(micro), 'test'), words)
    assert.equal(
      describeAmount(microUsdc(micro), 'live'),
      words.replace('test money, without', 'live money, with real'),
    )
  })
}
