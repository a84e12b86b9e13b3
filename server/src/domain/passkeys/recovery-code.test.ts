import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRecoveryCode, parseRecoveryCode } from './recovery-code.ts'

const CODE = '01ABC-DEFGH-JKMNP-QRSTV'

describe('recovery codes', () => {
  test('a code is four groups of five characters, and is accepted as shown', () => {
    const codes = Array.from({ length: 500 }, createRecoveryCode)
    for (const code of codes) {
      assert.match(code, /^(?:[0-9A-HJKMNP-TV-Z]{5}-){3}[0-9A-HJKMNP-TV-Z]{5}$/)
      assert.equal(parseRecoveryCode(code), code)
    }
    assert.equal(new Set(codes).size, 500)
    for (let place = 0; place < 23; place += 1) {
      const found = new Set(codes.map((code) => code.charAt(place)))
      assert.equal(found.size, place % 6 === 5 ? 1 : 32, `place ${place}`)
    }
  })

  const typed: readonly (readonly [string, string])[] = [
    ['in lower case', '01abc-defgh-jkmnp-qrstv'],
    ['without dashes', '01ABCDEFGHJKMNPQRSTV'],
    ['with spaces', ' 01ABC DEFGH JKMNP QRSTV\n'],
    ['with long dashes', '01ABC–DEFGH—JKMNP−QRSTV'],
    ['with letters for digits', 'OIABC-DEFGH-JKMNP-QRSTV'],
    ['with small letters for digits', 'olabc-defgh-jkmnp-qrstv'],
  ]
  for (const [how, text] of typed) test(`typed ${how}`, () => assert.equal(parseRecoveryCode(text), CODE))

  const faults: readonly (readonly [string, string])[] = [
    ['nothing', ''],
    ['a character too few', CODE.slice(0, -1)],
    ['a character too many', `${CODE}W`],
    ['a letter that no code has', CODE.replace('V', 'U')],
    ['other signs', CODE.replace('V', '!')],
    ['a very long text', '-'.repeat(100_000)],
  ]
  for (const [what, text] of faults) test(`${what} is not a code`, () => assert.equal(parseRecoveryCode(text), null))
})
