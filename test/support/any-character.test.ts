import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ANY_CHARACTER } from './any-character.ts'

const SAMPLES = 20_000

test('strings of any character are well-formed, reach every plane, and contain dangerous names', () => {
  const texts = fc.sample(fc.string({ unit: ANY_CHARACTER, maxLength: 80 }), { numRuns: SAMPLES, seed: 1 })
  assert.ok(texts.every((text) => text.isWellFormed()))
  const planes = new Set(
    texts.flatMap((text) => Array.from(text, (character) => (character.codePointAt(0) ?? 0) >> 16)),
  )
  assert.equal(planes.size, 17)
  assert.ok(texts.some((text) => text.includes('__proto__')))
})

test('a character turns back into its number, and half of one does not', () => {
  for (const character of ['\0', 'a', '\ud7ff', '\ue000', '\u{10ffff}']) {
    assert.ok(ANY_CHARACTER.canShrinkWithoutContext(character))
  }
  for (const other of ['', 'ab', '\ud800', '\udfff']) assert.ok(!ANY_CHARACTER.canShrinkWithoutContext(other))
})
