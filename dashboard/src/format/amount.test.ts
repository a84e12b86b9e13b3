import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatAmount, fromMicro, lowerAmount, roundAmount, sumAmounts, toMicro, toPermille } from './amount.ts'

test('amounts have thousands separators and at least two decimals, and lose no digit', () => {
  const rows = [
    ['0', '0.00'],
    ['1', '1.00'],
    ['1.5', '1.50'],
    ['999.999999', '999.999999'],
    ['1000', '1,000.00'],
    ['1234567.000001', '1,234,567.000001'],
    ['999999999999999.999999', '999,999,999,999,999.999999'],
  ] as const
  for (const [usdc, text] of rows) assert.equal(formatAmount(usdc), text)
})

test('amounts are compared as whole micro-USDC', () => {
  assert.equal(toMicro('1000000000000000'), 10n ** 21n)
  assert.equal(toMicro('0.000001'), 1n)
  assert.equal(toPermille('0.1', '0.3'), 333)
  assert.equal(toPermille('3', '0'), 0)
  assert.equal(toPermille('3', '2'), 1_000)
})

test('micro-USDC convert back to the same amount', () => {
  for (const usdc of ['0', '0.000001', '0.1', '1', '10', '1.5', '999999.999999', '1000000000000000']) {
    assert.equal(fromMicro(toMicro(usdc)), usdc)
  }
})

test('an amount with two decimals is rounded, and sums and comparisons are exact', () => {
  assert.equal(roundAmount('7165.601444'), '7,165.60')
  assert.equal(sumAmounts(['0.000001', '2', '999999999.999999']), '1000000002')
  assert.equal(sumAmounts([]), '0')
  assert.equal(lowerAmount('400.5', '0.5'), '0.5')
  assert.equal(lowerAmount('9', '10'), '9')
})
