import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseAgentId } from './agent-id.ts'
import { ANY_CHARACTER } from '../../../test/support/any-character.ts'

const FAMILY = '👩\u{1F3FD}'

describe('parseAgentId', () => {
  const valid = [
    ...['a', 'trader-7', 'team/research bot', '...', '.hidden', 'a.', '0', 'null', '../../etc', '%2F', '<b>&"\'', '🤖'],
    ...['a'.repeat(64), '🤖'.repeat(64), '名前', 'عميل', FAMILY, 'a\u00a0b', '\u00e9'.repeat(64)],
  ]
  for (const id of valid) {
    test(`${JSON.stringify(id.slice(0, 20))} is an id`, () => assert.equal(parseAgentId(id), id))
  }

  const invalid: readonly (readonly [string, string])[] = [
    ['', 'is empty'],
    ['a'.repeat(65), 'is too long'],
    ['🤖'.repeat(65), 'is too long in code points'],
    ['.', 'can be in no URL'],
    ['..', 'can be in no URL'],
    [' a', 'begins with white space'],
    ['a ', 'ends with white space'],
    ['a\u00a0', 'ends with a no-break space'],
    ['\ufeffa', 'begins with a byte order mark'],
    ['\u3000a', 'begins with an ideographic space'],
    ['a\u0000b', 'holds NUL'],
    ['a\nb', 'holds a line feed'],
    ['a\tb', 'holds a tab'],
    ['a\u007fb', 'holds DEL'],
    ['a\u0085b', 'holds a C1 control'],
    ['a\u200bb', 'holds a zero-width space'],
    ['a\u200db', 'holds a zero-width joiner'],
    ['a\u202eb', 'holds a bidirectional override'],
    ['a\u2028b', 'holds a line separator'],
    ['a\u2029b', 'holds a paragraph separator'],
    ['a\ue000b', 'holds a private-use character'],
    ['a\ud800b', 'holds a lone high surrogate'],
    ['a\udc00b', 'holds a lone low surrogate'],
    ['a\u{e0001}b', 'holds a tag character'],
  ]
  for (const [id, fault] of invalid) {
    test(`${JSON.stringify(id.slice(0, 20))} ${fault}`, () => assert.equal(parseAgentId(id), null))
  }

  test('two encodings of one letter give the same id, in the composed form', () => {
    assert.equal(parseAgentId('cafe\u0301'), 'caf\u00e9')
    assert.equal(parseAgentId('caf\u00e9'), 'caf\u00e9')
  })

  test('the length is counted after normalization', () => {
    assert.equal(parseAgentId('e\u0301'.repeat(64)), '\u00e9'.repeat(64))
    // This character has one code point before normalization and two after it (a composition exclusion).
    assert.equal(parseAgentId('\u0958'.repeat(33)), null)
  })

  test('parsing an id returns it unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY_CHARACTER, maxLength: 70 }), (text) => {
        const id = parseAgentId(text)
        if (id !== null) assert.equal(parseAgentId(id), id)
      }),
    )
  })
})
