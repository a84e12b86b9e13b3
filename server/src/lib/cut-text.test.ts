import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cutText, shortenText } from './cut-text.ts'

const FACE = '\u{1f600}'

describe('a text that is cut', () => {
  const cases = [
    ['short', 5, 'short'],
    ['longer', 5, 'longe'],
    [FACE.repeat(5), 3, FACE.repeat(3)],
    [`a${FACE.repeat(5)}`, 3, `a${FACE.repeat(2)}`],
    [`${FACE}abc`, 3, `${FACE}ab`],
    ['\ud83d', 3, '\ufffd'],
    ['\ud83dabc', 3, '\ufffdab'],
    ['', 3, ''],
  ] as const
  for (const [text, charsMax, expected] of cases) {
    test(`to ${charsMax} characters: ${JSON.stringify(text)}`, () => assert.equal(cutText(text, charsMax), expected))
  }

  test('is the beginning of the text, well formed, and not too long', () => {
    const property = fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.nat(20), (start, end, charsMax) => {
      const text = `${start}\ud83d${end}`
      const cut = cutText(text, charsMax)
      assert.ok(cut.isWellFormed())
      assert.equal(cut, Array.from(text.toWellFormed()).slice(0, charsMax).join(''))
    })
    fc.assert(property)
  })

  test('has an ellipsis if something is missing', () => {
    assert.deepEqual(
      ['abc', 'abcd', FACE.repeat(3)].map((text) => shortenText(text, 3)),
      ['abc', 'abc…', FACE.repeat(3)],
    )
  })
})
