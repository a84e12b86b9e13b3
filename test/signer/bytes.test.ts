import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assert as check, property, uint8Array } from 'fast-check'
import { fromBase64, fromBase64Url, toBase64, toBase64Url } from '../../signer/src/bytes.ts'

test('the same bytes have one text only, in base64 and in base64url', () => {
  check(
    property(uint8Array({ maxLength: 40 }), (bytes) => {
      const [base64, base64url] = [toBase64(bytes), toBase64Url(bytes)]
      assert.deepEqual(fromBase64(base64), new Uint8Array(bytes))
      assert.deepEqual(fromBase64Url(base64url), new Uint8Array(bytes))
      assert.equal(base64url, Buffer.from(bytes).toString('base64url'))
    }),
  )
  for (const text of ['A', 'AB', 'AAB', 'AA=', 'AA==', 'AA+A', 'AA/A', ' AAAA', 'AAAA\n', 'AAA\u00e9', 'AAAAA']) {
    assert.equal(fromBase64Url(text), null, text)
  }
  for (const text of ['A', 'AA', 'AB==', 'AAB=', 'AA=', 'AAA', 'AA===', 'AA-A', 'AA_A', 'AA==AA==', '====', 'AAAA\n']) {
    assert.equal(fromBase64(text), null, text)
  }
})
