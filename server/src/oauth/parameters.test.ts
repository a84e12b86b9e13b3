import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { InvalidRequest } from './oauth-error.ts'
import { checkNoRepetition, findParameter, getParameter, listParameter, parseParameters } from './parameters.ts'

const parse = (text: string) => parseParameters(Buffer.from(text, 'utf8'))

describe('the parameters of a request', () => {
  const values: readonly (readonly [string, string, string | null])[] = [
    ['a value', 'a=1', '1'],
    ['a plus', 'a=x+y', 'x y'],
    ['escapes', 'a=%2B%2F%3D%25%26%23%3B', '+/=%&#;'],
    ['equals signs', 'a=1=2==', '1=2=='],
    ['an emoji in escapes', 'a=%F0%9F%8D%9C', '🍜'],
    ['an emoji in raw UTF-8', 'a=🍜', '🍜'],
    ['a name in escapes', '%61=1', '1'],
    ['nothing (A3)', 'a=', null],
    ['no equals sign (A3)', 'a', null],
    ['nothing at first (A3)', 'a=&a=1', '1'],
    ['no parameter at all', '', null],
    ['ampersands alone', '&&&', null],
    ['another name in brackets', 'a[]=1', null],
    ['the names of an object', '__proto__=1&constructor=2', null],
  ]
  for (const [name, text, value] of values) {
    test(`with ${name}: ${text}`, () => assert.equal(findParameter(parse(text), 'a'), value))
  }

  const malformed: readonly (readonly [string, Buffer])[] = [
    ['a broken escape', Buffer.from('a=%zz')],
    ['an escape that is cut short', Buffer.from('a=%4')],
    ['an escape that is not UTF-8', Buffer.from('a=%ff')],
    ['an overlong escape', Buffer.from('a=%c0%80')],
    ['an escaped surrogate', Buffer.from('a=%ed%a0%80')],
    ['raw bytes that are not UTF-8', Buffer.from('a=\u00ff', 'latin1')],
    ['NUL (A12)', Buffer.from('a=%00')],
    ['raw NUL (A12)', Buffer.from('a=\u0000')],
    ['a line feed (A12)', Buffer.from('a=x%0ay')],
    ['DEL (A12)', Buffer.from('a=%7f')],
    ['NUL in a name (A12)', Buffer.from('a%00=1')],
    ['NUL in a parameter that nobody knows (A12)', Buffer.from('a=1&utm_source=%00')],
  ]
  for (const [name, bytes] of malformed) {
    test(`are rejected with ${name}`, () => assert.throws(() => parseParameters(bytes), InvalidRequest))
  }

  test('are rejected when one is sent twice, except resource (A1, A2, D18)', () => {
    const parameters = parse('a=1&b=2&a=1&resource=x&resource=y')
    assert.throws(() => findParameter(parameters, 'a'), { error: 'invalid_request', parameter: 'a' })
    assert.throws(() => checkNoRepetition(parameters), { error: 'invalid_request', parameter: 'a' })
    assert.deepEqual(listParameter(parameters, 'resource'), ['x', 'y'])
    assert.doesNotThrow(() => checkNoRepetition(parse('a=1&b=2&resource=x&resource=y')))
  })

  test('distinguish a name without a value from a missing name', () => {
    assert.deepEqual([parse('a=').has('a'), parse('a').has('a'), parse('b=&').has('a')], [true, true, false])
  })

  test('throw an error that names a missing one', () => {
    assert.throws(() => getParameter(parse('a='), 'a'), {
      message: 'a is required and must appear exactly once.',
      parameter: 'a',
    })
  })

  test('are exactly the values that URLSearchParams encoded', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
    const fitting = text.filter((text) => text.isWellFormed() && !/\p{Cc}/u.test(text))
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(fitting, fitting), { selector: ([name]) => name }), (pairs) => {
        const parameters = parse(new URLSearchParams(pairs).toString())
        for (const [name, value] of pairs) assert.equal(getParameter(parameters, name), value)
        assert.equal(parameters.size, pairs.length)
      }),
    )
  })
})
