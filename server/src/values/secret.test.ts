import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { deriveSecret, isSecret } from './secret.ts'

const PREFIX = 'svc_ort_'

describe('a derived secret', () => {
  const key = randomBytes(32)

  test('has the format of a random one, also for keys with an extreme result', () => {
    for (let count = 0; count < 1_000; count += 1) {
      const secret = deriveSecret(PREFIX, key, [String(count)])
      assert.ok(isSecret(PREFIX, secret), secret)
    }
  })

  test('is the same for the same arguments, and another one if any of them differs', () => {
    const from = ['token', 'client', null, 'a b']
    assert.equal(deriveSecret(PREFIX, key, from), deriveSecret(PREFIX, key, [...from]))
    const others = [
      deriveSecret(PREFIX, key, from),
      deriveSecret('svc_oat_', key, from).replace('svc_oat_', PREFIX),
      deriveSecret(PREFIX, randomBytes(32), from),
      deriveSecret(PREFIX, key, ['token', 'client', '', 'a b']),
      deriveSecret(PREFIX, key, ['token', 'client', 'a b', null]),
      deriveSecret(PREFIX, key, ['token', 'client', null, 'a', 'b']),
      deriveSecret(PREFIX, key, ['tokenclient', '', null, 'a b']),
    ].map((secret) => secret.slice(PREFIX.length, -6))
    assert.equal(new Set(others).size, others.length)
  })
})
