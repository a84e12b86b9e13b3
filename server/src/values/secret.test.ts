import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { createSecret, deriveSecret, isSecret, parseCell } from './secret.ts'

const PREFIX = 'svc_ort_'

describe('a derived secret', () => {
  const key = randomBytes(32)

  test('has the format of a random one, also for keys with an extreme result', () => {
    for (let count = 0; count < 1_000; count += 1) {
      const secret = deriveSecret(PREFIX, { key, from: [String(count)] })
      assert.ok(isSecret(PREFIX, secret), secret)
    }
  })

  test('is the same for the same arguments, and another one if any of them differs', () => {
    const from = ['token', 'client', null, 'a b']
    assert.equal(deriveSecret(PREFIX, { key, from }), deriveSecret(PREFIX, { key, from: [...from] }))
    const others = [
      deriveSecret(PREFIX, { key, from }),
      deriveSecret('svc_oat_', { key, from }).replace('svc_oat_', PREFIX),
      deriveSecret(PREFIX, { key: randomBytes(32), from }),
      deriveSecret(PREFIX, { key, from: ['token', 'client', '', 'a b'] }),
      deriveSecret(PREFIX, { key, from: ['token', 'client', 'a b', null] }),
      deriveSecret(PREFIX, { key, from: ['token', 'client', null, 'a', 'b'] }),
      deriveSecret(PREFIX, { key, from: ['tokenclient', '', null, 'a b'] }),
    ].map((secret) => secret.slice(PREFIX.length, -6))
    assert.equal(new Set(others).size, others.length)
  })
})

describe('a secret of a cell', () => {
  const cell = parseCell('eu1')
  const key = randomBytes(32)
  const form = /^svc_ort_eu1[0-9A-Za-z]{46}$/

  for (const [kind, create] of [
    ['random', () => createSecret(PREFIX, cell)],
    ['derived', (count: number) => deriveSecret(PREFIX, { key, from: [String(count)], cell })],
  ] as const) {
    test(`begins with the cell and has the form of every secret, if it is ${kind}`, () => {
      const secrets = Array.from({ length: 1_000 }, (_, count) => create(count))
      for (const secret of secrets) {
        assert.match(secret, form)
        assert.ok(isSecret(PREFIX, secret), secret)
      }
      assert.equal(new Set(secrets).size, secrets.length)
    })
  }

  test('has other check characters than a random secret with the same characters would have', () => {
    const secret = createSecret(PREFIX, cell)
    const random = createSecret(PREFIX)
    assert.equal(random.slice(-6), checkOf(random.slice(0, -6)))
    assert.notEqual(secret.slice(-6), checkOf(secret.slice(0, -6)))
  })

  test('is not valid with a typo, or with the name of another cell', () => {
    const secret = createSecret(PREFIX, cell)
    const typo = secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0')
    assert.deepEqual(
      [typo, secret.replace('eu1', 'eu2')].map((text) => isSecret(PREFIX, text)),
      [false, false],
    )
  })

  test('belongs to a cell that is named by three characters', () => {
    assert.deepEqual(['', 'e', 'eu', 'eu1x', 'eu-', 'äu1'].map(parseCell), [null, null, null, null, null, null])
  })
})

/** The six check characters of a secret without a cell: its CRC-32 in base62. */
function checkOf(body: string): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const places = Array.from({ length: 6 }, (_, place) => Math.floor(crc32(body) / 62 ** (5 - place)) % 62)
  return places.map((digit) => digits.charAt(digit)).join('')
}
