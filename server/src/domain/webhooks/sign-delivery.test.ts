import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signDelivery } from './sign-delivery.ts'

const SECRET = 'whsec_7Yk2mPq9Lx4Wv8Rt1Zb6Nc3Hd5Jf0Gs2Ka7Qe9Uy4Io0ABCDEF'
const BODY = Buffer.from('{"id":"evt_01KDVFXZ00ABCDEFGHJKMNPQRS","note":"é✓"}')
const NOW = new Date('2026-01-01T00:00:00.999Z')

// The expected signatures were made with `openssl dgst -sha256 -hmac`.
test('a fixed secret, time and body have a fixed signature', () => {
  assert.equal(
    signDelivery({ secrets: [SECRET], body: BODY, now: NOW }),
    't=1767225600,v1=1f51f2710a7f873db9d6f8c7a1cc8f5470ffe27ebf2700ca3a635c8486e9904e',
  )
  assert.equal(
    signDelivery({ secrets: [SECRET], body: Buffer.alloc(0), now: NOW }),
    't=1767225600,v1=420be1051ede59db8163260de4d43452890a86d53c11808061bfbcf5024450cd',
  )
})

test('each secret signs, the current one first', () => {
  assert.equal(
    signDelivery({ secrets: [SECRET, 'whsec_previous'], body: BODY, now: NOW }),
    't=1767225600,v1=1f51f2710a7f873db9d6f8c7a1cc8f5470ffe27ebf2700ca3a635c8486e9904e' +
      ',v1=cee95ae9f9203ef4783223393b5c5b0d5b034275f36b6cb68b1f5ecb40b508bc',
  )
})

test('the time is in whole seconds, rounded down, never in milliseconds', () => {
  for (const [time, seconds] of [
    ['2026-01-01T00:00:00.000Z', 1_767_225_600],
    ['2026-01-01T00:00:01.000Z', 1_767_225_601],
    ['1969-12-31T23:59:59.500Z', -1],
  ] as const) {
    assert.match(signDelivery({ secrets: [SECRET], body: BODY, now: new Date(time) }), new RegExp(`^t=${seconds},v1=`))
  }
})
