import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isExactNumber, isTooDeep, JSON_LEVELS_MAX, parseExactJson, parseJson } from './parse-json.ts'

const nested = (levels: number, value = '1'): string =>
  `${'{"a":['.repeat(levels / 2)}${value}${']}'.repeat(levels / 2)}`

describe('JSON that somebody else wrote', () => {
  test('may be nested up to the limit, and not one level more', () => {
    assert.deepEqual(JSON.stringify(parseJson(nested(JSON_LEVELS_MAX))), nested(JSON_LEVELS_MAX))
    assert.throws(() => parseJson(`[${nested(JSON_LEVELS_MAX)}]`), SyntaxError)
    assert.throws(() => parseExactJson(nested(100_000)), SyntaxError)
    assert.throws(() => parseJson('{'), SyntaxError)
  })

  test('has brackets in its strings that do not count', () => {
    for (const text of ['[[[', String.raw`\"[[[`, String.raw`\\`, String.raw`a\\\"[[[`]) {
      assert.equal(isTooDeep(`["${text}","${text}"]`, 1), false, text)
      assert.equal(isTooDeep(`[["${text}"]]`, 1), true, text)
    }
    assert.equal(isTooDeep('"[[', 0), false)
  })

  test('is as deep as its value', () => {
    const depth = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0
    const property = fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(8), (value, levelsMax) => {
      assert.equal(isTooDeep(JSON.stringify(value), levelsMax), depth(value) > levelsMax)
    })
    fc.assert(property)
  })

  test('keeps its numbers as they were written', () => {
    const text = '{"a":[1.0,12345678901234567890,-0,1e3,0.10,{"b":1E400}],"c":"1.0","d":null,"e":true}'
    assert.equal(JSON.stringify(parseExactJson(text)), text)
    const { a } = parseExactJson(text) as { readonly a: readonly unknown[] }
    assert.deepEqual([isExactNumber(a[0]), isExactNumber(a[5]), isExactNumber('1.0')], [true, false, false])
  })
})
