import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createApiKeySecret, parseApiKeySecret } from './api-key.ts'
import { hashSecret } from './secret.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.split('')

describe('API keys', () => {
  test('a key contains its mode, has the documented form, and parsing returns it unchanged', () => {
    for (const mode of ['test', 'live'] as const) {
      const secret = createApiKeySecret(mode)
      assert.match(secret, new RegExp(`^svc_${mode}_[0-9A-Za-z]{49}$`))
      assert.equal(parseApiKeySecret(secret), secret)
    }
  })

  test('no two keys are the same', () => {
    const secrets = Array.from({ length: 1_000 }, () => createApiKeySecret('test'))
    assert.equal(new Set(secrets).size, secrets.length)
  })

  test('the check characters detect every typo of one character', () => {
    const secret = createApiKeySecret('live')
    const first = 'svc_live_'.length
    for (let index = first; index < secret.length; index += 1) {
      for (const character of BASE62) {
        if (character === secret.charAt(index)) continue
        assert.equal(parseApiKeySecret(secret.slice(0, index) + character + secret.slice(index + 1)), null)
      }
    }
  })

  test('the check characters detect two neighbouring characters that were swapped', () => {
    fc.assert(
      fc.property(fc.integer({ min: 9, max: 56 }), (index) => {
        const secret = createApiKeySecret('test')
        const [left, right] = [secret.charAt(index), secret.charAt(index + 1)]
        const swapped = secret.slice(0, index) + right + left + secret.slice(index + 2)
        assert.equal(parseApiKeySecret(swapped) === null, left !== right)
      }),
    )
  })

  test('a text with another mode, length or character is not a key', () => {
    const secret = createApiKeySecret('test')
    const others = [secret.replace('_test_', '_live_'), secret.slice(0, -1), `${secret}0`, ` ${secret}`, `${secret}\n`]
    for (const text of [...others, secret.toUpperCase(), '', 'svc_test_', `svc_test_${'é'.repeat(49)}`]) {
      assert.equal(parseApiKeySecret(text), null)
    }
  })

  test('the hash of a key is its SHA-256', () => {
    const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
    assert.equal(hashSecret('').toString('hex'), empty)
  })
})
