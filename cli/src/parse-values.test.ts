import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CliError } from './cli-error.ts'
import { parseAddress, parseAmount, parseCount, parseKey, parseList, parseTime } from './parse-values.ts'

describe('values on the command line', () => {
  const valid: readonly (readonly [string, () => unknown, unknown])[] = [
    ['an amount', () => parseAmount('1.25'), '1.25'],
    ['the smallest amount', () => parseAmount('0.000001'), '0.000001'],
    ['an address', () => parseAddress(`0x${'aB'.repeat(20)}`), `0x${'aB'.repeat(20)}`],
    ['a key', () => parseKey('x'.repeat(64)), 'x'.repeat(64)],
    ['a count', () => parseCount('20', { name: '--limit', min: 1, max: 20 }), 20],
    ['how long ago', () => parseTime('15m'), { agoMs: 15 * 60_000 }],
    ['a time', () => parseTime('2026-11-01T10:00:00+02:00'), { at: new Date('2026-11-01T08:00:00.000Z') }],
    ['a day', () => parseTime('2026-11-01'), { at: new Date('2026-11-01T00:00:00.000Z') }],
    ['a list', () => parseList('a, b', ['a', 'b'], '--type'), ['a', 'b']],
  ]
  for (const [what, parse, expected] of valid) test(`${what} is accepted`, () => assert.deepEqual(parse(), expected))

  const invalid: readonly (readonly [string, () => unknown])[] = [
    ...['0', '0.0', '-1', '+1', '1e3', '1,5', '01', '.5', '1.', '1.0000001', '', ' 1', 'NaN', '9'.repeat(24)].map(
      (text) => [`the amount ${JSON.stringify(text)}`, () => parseAmount(text)] as const,
    ),
    ...['0x12', 'alice.eth', `0x${'g'.repeat(40)}`, 'ab'.repeat(20), `0x${'a'.repeat(41)}`].map(
      (text) => [`the address ${text}`, () => parseAddress(text)] as const,
    ),
    ['an empty key', () => parseKey('')],
    ['a long key', () => parseKey('x'.repeat(65))],
    ['a count beyond the limit', () => parseCount('21', { name: '--limit', min: 1, max: 20 })],
    ['a count that is no number', () => parseCount('1e1', { name: '--limit', min: 1, max: 20 })],
    ['a time without a unit', () => parseTime('15')],
    ['a time in words', () => parseTime('yesterday')],
    ['an unknown member of a list', () => parseList('a,c', ['a', 'b'], '--type')],
  ]
  for (const [what, parse] of invalid) {
    test(`${what} is wrong usage`, () => {
      assert.throws(parse, (error) => error instanceof CliError && error.exitCode === 2)
    })
  }
})
