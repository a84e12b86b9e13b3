import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cleanBlock, cleanLine, toSafeJson } from './clean-text.ts'

describe('text from elsewhere on a terminal', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['plain text', 'Lisbon, 21 °C €', 'Lisbon, 21 °C €'],
    ['an escape sequence', 'a\u001b[2Jb', 'a\ufffd[2Jb'],
    ['the one-byte form of an escape sequence', 'a\u009b2Jb', 'a\ufffd2Jb'],
    ['line breaks and tabs', 'a\r\n\tb', 'a b'],
    ['a change of direction', 'pay \u202e00.1', 'pay \ufffd00.1'],
    ['an invisible character', 'pay\u200bpal', 'pay\ufffdpal'],
    ['a bell and a backspace', 'a\u0007\u0008b', 'a\ufffd\ufffdb'],
  ]
  for (const [what, text, expected] of cases) {
    test(`${what} is safe within a line`, () => assert.equal(cleanLine(text), expected))
  }

  test('a block keeps its lines and tabs, and nothing else', () => {
    assert.equal(cleanBlock('a\r\n\tb\u001bc\rd\n'), 'a\n\tb\ufffdc\ufffdd\n')
  })

  test('JSON has the same value and no character that a terminal would act on', () => {
    const value = { text: 'a\u001b\u009b\u202e\u200bb\n€', list: [1] }
    for (const indent of [undefined, 2]) {
      const json = toSafeJson(value, indent)
      assert.deepEqual(JSON.parse(json), value)
      assert.doesNotMatch(json, /(?!\n)[\p{Cc}\u202e\u200b]/u)
    }
  })
})
