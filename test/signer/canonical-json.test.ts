import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assert as check, jsonValue, property, uint8Array } from 'fast-check'
import { canonicalJson as reference } from '../../sandbox/src/enclave/canonical-json.ts'
import { canonicalJson, parseCanonicalJson, type Json } from '../../signer/src/canonical-json.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('canonical JSON on the signer page', () => {
  test('any value has the same canonical form as at the enclave', () => {
    check(
      property(jsonValue({ noUnicodeString: false, maxDepth: 4 }), (value) => {
        assert.equal(canonicalJson(value as Json), reference(value))
      }),
    )
  })

  test('the canonical form of any value is read as this value', () => {
    check(
      property(jsonValue({ noUnicodeString: false }), (value) => {
        const text = canonicalJson(value as Json)
        const read = parseCanonicalJson(encode(text))
        assert.ok(read !== undefined)
        assert.equal(canonicalJson(read), text)
      }),
    )
  })

  test('bytes are read only if they are the canonical form of what was read', () => {
    check(
      property(uint8Array(), (bytes) => {
        const value = parseCanonicalJson(bytes)
        if (value !== undefined) assert.deepEqual(encode(canonicalJson(value)), Uint8Array.from(bytes))
      }),
    )
  })

  for (const text of [
    '{"b":1,"a":2}',
    '{"a":1,"a":1}',
    '{"a": 1}',
    '[1.0]',
    '[1e2]',
    '[-0]',
    '["\\u0041"]',
    '[1e400]',
    '\uFEFF{}',
    'NaN',
    '['.repeat(30_000) + ']'.repeat(30_000),
  ]) {
    test(`is not read: ${text.slice(0, 20)}`, () => assert.equal(parseCanonicalJson(encode(text)), undefined))
  }
})
