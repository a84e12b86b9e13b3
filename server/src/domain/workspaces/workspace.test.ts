import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { slugOf } from './workspace.ts'
import { ANY_CHARACTER } from '../../../../test/support/any-character.ts'

describe('slugOf', () => {
  const slugs: readonly (readonly [string, string])[] = [
    ['Acme', 'acme'],
    ['Acme, Inc.', 'acme-inc'],
    ['  --Acme--  ', 'acme'],
    ['Été à Zürich', 'ete-a-zurich'],
    ['Łódź Ørsted', 'lodz-orsted'],
    ['STRAẞE Straße', 'strasse-strasse'],
    ['Æsir Œuvre', 'aesir-oeuvre'],
    ['Đà Nẵng', 'da-nang'],
    ['Þór Guðmundsson', 'thor-gudmundsson'],
    ['Iğdır İzmir', 'igdir-izmir'],
    ['ǽ ǿ', 'ae-o'],
    ['ＡＢＣ １', 'abc-1'],
    ['日本', 'workspace'],
    ['🤖', 'workspace'],
    ['', 'workspace'],
    ['a'.repeat(41), 'a'.repeat(40)],
    [`${'a'.repeat(39)} b`, 'a'.repeat(39)],
  ]
  for (const [name, slug] of slugs) {
    test(`${JSON.stringify(name.slice(0, 20))} is ${slug.slice(0, 20)}`, () => assert.equal(slugOf(name), slug))
  }

  test('a slug can be used in a URL without encoding', () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY_CHARACTER, maxLength: 120 }), (name) => {
        assert.match(slugOf(name), /^[a-z0-9]+(-[a-z0-9]+)*$/)
        assert.ok(slugOf(name).length <= 40)
      }),
    )
  })
})
