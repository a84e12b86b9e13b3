import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Problem } from '../../../server/src/values/problem.ts'
import { Fields } from './fields.ts'

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'

describe('a valid field', () => {
  const cases: readonly [string, unknown, (fields: Fields) => unknown, unknown][] = [
    ['a text', 'x', (fields) => fields.text('it'), 'x'],
    ['an amount', '1.5', (fields) => fields.amount('it'), 1_500_000n],
    ['a zero amount', '0.00', (fields) => fields.amountOrZero('it'), null],
    ['no amount', undefined, (fields) => fields.amountOrZero('it'), null],
    ['an address in lower case', ADDRESS.toLowerCase(), (fields) => fields.address('it'), ADDRESS],
    ['a list of addresses', [ADDRESS], (fields) => fields.addresses('it'), [ADDRESS]],
    ['no list', undefined, (fields) => fields.addresses('it'), undefined],
    ['a time', '2030-01-02T03:04:05+01:00', (fields) => fields.time('it'), new Date('2030-01-02T02:04:05Z')],
    ['no time', null, (fields) => fields.time('it'), null],
    ['a number at its bound', 3, (fields) => fields.integer('it', { min: 1, max: 3 }), 3],
    ['a flag', false, (fields) => fields.flag('it', true), false],
    ['no flag', undefined, (fields) => fields.flag('it', true), true],
    ['a choice', 'b', (fields) => fields.oneOf('it', ['a', 'b']), 'b'],
    ['no choice', undefined, (fields) => fields.oneOf('it', ['a', 'b'], 'a'), 'a'],
    ['several values of a list', ['c', 'a'], (fields) => fields.someOf('it', ['a', 'b', 'c']), ['a', 'c']],
    ['no value, which means all', undefined, (fields) => fields.someOf('it', ['a', 'b']), ['a', 'b']],
  ]
  for (const [name, value, read, expected] of cases) {
    it(`is read: ${name}`, () => assert.deepEqual(read(new Fields({ it: value })), expected))
  }
})

describe('an invalid field', () => {
  const cases: readonly [string, unknown, (fields: Fields) => unknown, string?][] = [
    ['no text', undefined, (fields) => fields.text('it')],
    ['a number as text', 1, (fields) => fields.text('it')],
    ['a text with NUL', 'a\u0000', (fields) => fields.text('it')],
    ['an amount as number', 1, (fields) => fields.amount('it')],
    ['a negative amount', '-1', (fields) => fields.amount('it'), 'amount_invalid'],
    ['seven decimals', '0.0000001', (fields) => fields.amountOrZero('it'), 'amount_invalid'],
    ['a wrong checksum', ADDRESS.replace('E', 'e'), (fields) => fields.address('it'), 'address_invalid'],
    ['one bad address of a list', [ADDRESS, 7], (fields) => fields.addresses('it'), 'address_invalid'],
    ['an object as list', {}, (fields) => fields.addresses('it')],
    ['a time without its offset', '2030-01-02T03:04:05', (fields) => fields.time('it')],
    ['a day that does not exist', '2030-13-02T03:04:05Z', (fields) => fields.time('it')],
    ['a number beyond its bound', 4, (fields) => fields.integer('it', { min: 1, max: 3 })],
    ['a fraction', 1.5, (fields) => fields.integer('it', { min: 1, max: 3 })],
    ['a number in a text', '2', (fields) => fields.integer('it', { min: 1, max: 3 })],
    ['a text instead of a flag', 'true', (fields) => fields.flag('it')],
    ['an unknown choice', 'c', (fields) => fields.oneOf('it', ['a', 'b'], 'a')],
    ['a list with an unknown value', ['a', 'x'], (fields) => fields.someOf('it', ['a', 'b'])],
    ['a list with the same value twice', ['a', 'a'], (fields) => fields.someOf('it', ['a', 'b'])],
    ['an empty list of values', [], (fields) => fields.someOf('it', ['a', 'b'])],
    ['a text instead of a list of values', 'a', (fields) => fields.someOf('it', ['a', 'b'])],
    ['an agent id of white space', ' ', (fields) => fields.agentId('it')],
  ]
  for (const [name, value, read, code] of cases) {
    it(`is 400, and the error names it: ${name}`, () => {
      assert.throws(
        () => read(new Fields({ it: value })),
        (error) =>
          error instanceof Problem && error.status === 400 && error.code === code && error.message.startsWith('it'),
      )
    })
  }
})

it('accepts exactly one of several alternatives', () => {
  assert.equal(new Fields({ b: false }).only(['a', 'b']), 'b')
  assert.throws(() => new Fields({}).only(['a', 'b']), { message: /a, b .*exactly one/ })
  assert.throws(() => new Fields({ a: 1, b: 2 }).only(['a', 'b']), { message: /exactly one/ })
})

it('treats a missing body as one without fields, and rejects any other value', () => {
  assert.equal(new Fields(undefined).has('it'), false)
  for (const body of [null, [], 'x', 1]) assert.throws(() => new Fields(body), { message: /JSON object/ })
})
