import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { toClientName } from './client-name.ts'
import { ANY_CHARACTER } from '../../../test/support/any-character.ts'

/** A client chooses its own name, and users see the name on the consent page. So the name must not deceive them. */
describe('the name of a client', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['a name', 'Claude Code', 'Claude Code'],
    ['decomposed letters', 'Cafe\u0301', 'Café'],
    ['letters with something invisible between', 'e\u200d\u0301', 'é'],
    ['bidirectional overrides', '\u202eedualC\u202c \u2066x\u2069', 'edualC x'],
    ['zero-width characters', 'Cl\u200bau\u200cde\ufeff', 'Claude'],
    ['tag characters', 'Claude\u{e0041}\u{e0042}', 'Claude'],
    ['a filler and a blank that is a letter', 'a\u3164b\u2800c', 'abc'],
    ['NUL and other controls', 'a\u0000b\u0007c\u009f', 'abc'],
    ['a lone surrogate', 'a\ud800b', 'ab'],
    ['private-use characters', 'a\ue000b', 'ab'],
    ['lines and tabs', ' a\r\n\tb\u2028c ', 'a b c'],
    ['nothing that can be seen', '\u200b \u202e\n', ''],
    ['markup, which pages escape', '<b>x</b>', '<b>x</b>'],
    ['more than 100 characters', '🍜'.repeat(101), '🍜'.repeat(100)],
    ['a space at the cut', `${'a'.repeat(99)} b`, 'a'.repeat(99)],
  ]
  for (const [name, text, expected] of cases) {
    test(`is made safe to display: ${name}`, () => assert.equal(toClientName(text), expected))
  }

  test('has at most 100 characters, is NFC, well-formed, without outer white space, and does not change when cleaned again', () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY_CHARACTER, maxLength: 300 }), (text) => {
        const name = toClientName(text)
        assert.ok(Array.from(name).length <= 100 && name.isWellFormed() && name === name.trim())
        assert.equal(name, name.normalize('NFC'))
        assert.equal(toClientName(name), name)
      }),
    )
  })
})
