import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { AMOUNT_USDC_MAX, formatAmount, formatRounded, parseAmount } from './money.ts'

const MICRO_MAX = AMOUNT_USDC_MAX * 1_000_000n

describe('parseAmount', () => {
  const wellFormed: readonly (readonly [string, bigint])[] = [
    ['0.000001', 1n],
    ['0.1', 100_000n],
    ['1', 1_000_000n],
    ['1.50', 1_500_000n],
    ['1.000000', 1_000_000n],
    ['10', 10_000_000n],
    ['123456789.123456', 123_456_789_123_456n],
    ['999999999999999.999999', MICRO_MAX - 1n],
    ['1000000000000000', MICRO_MAX],
    ['1000000000000000.000000', MICRO_MAX],
  ]
  for (const [text, micro] of wellFormed) {
    test(`${text} is ${micro} micro-USDC`, () => assert.equal(parseAmount(text), micro))
  }

  const malformed = [
    ...['', '0', '0.0', '0.000000', '-1', '+1', '1.', '.5', '.', '01', '00', '1e3', '1E3', '1,5', '1 000', ' 1', '1 '],
    ...['1\n', '\t1', '1.1234567', '1.0000000', '0x1', '0b1', '١', '１', '1_000', '1.2.3', '--1', 'NaN', 'Infinity'],
    ...[
      '1000000000000000.000001',
      '1000000000000001',
      '1'.repeat(24),
      '1'.repeat(100_000),
      '1n',
      '$1',
      '1 USDC',
      '1\u0000',
    ],
  ]
  for (const text of malformed) {
    test(`${JSON.stringify(text.slice(0, 30))} is refused`, () => assert.equal(parseAmount(text), null))
  }

  test('parsing a formatted amount returns the same amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: MICRO_MAX }), (micro) => {
        assert.equal(parseAmount(formatAmount(micro)), micro)
      }),
    )
  })

  test('whatever is parsed is a positive amount within the limit, and has the documented format', () => {
    const digits = fc.string({ unit: fc.constantFrom('0', '1', '9', '.', '-', ' ', 'e'), maxLength: 26 })
    fc.assert(
      fc.property(digits, (text) => {
        const micro = parseAmount(text)
        const inPattern = /^(0|[1-9][0-9]*)(\.[0-9]{1,6})?$/.test(text)
        const inBounds = inPattern && /[1-9]/.test(text) && toMicro(text) <= MICRO_MAX
        assert.equal(micro, inBounds ? toMicro(text) : null)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('formatAmount', () => {
  const formatted: readonly (readonly [bigint, string])[] = [
    [0n, '0'],
    [1n, '0.000001'],
    [1_000_000n, '1'],
    [1_500_000n, '1.5'],
    [10_000_000n, '10'],
    [-1n, '-0.000001'],
    [-1_500_000n, '-1.5'],
    [MICRO_MAX, '1000000000000000'],
  ]
  for (const [micro, text] of formatted) {
    test(`${micro} is ${text}`, () => assert.equal(formatAmount(micro), text))
  }
})

/** Computes the micro-USDC of a text in another way than `parseAmount` does, by removing the decimal point. */
function toMicro(text: string): bigint {
  const point = text.indexOf('.')
  const places = point === -1 ? 0 : text.length - point - 1
  return BigInt(text.replace('.', '')) * 10n ** BigInt(6 - places)
}

test('an amount is rounded to two decimals for people, and is never shown as none', () => {
  const cases = [
    [0n, '0.00'],
    [1n, '<0.01'],
    [4_999n, '<0.01'],
    [5_000n, '0.01'],
    [7_165_601_444n, '7,165.60'],
    [2_187_918_638n, '2,187.92'],
    [999_995_000n, '1,000.00'],
    [1_234_567_890_000_000n, '1,234,567,890.00'],
  ] as const
  for (const [micro, text] of cases) assert.equal(formatRounded(micro), text)
})
