import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { normalizePublicKey } from './normalize-public-key.ts'

/** The header of the SPKI DER of a P-256 key whose point is compressed to 33 bytes. */
const COMPRESSED_HEADER = '3039301306072a8648ce3d020106082a8648ce3d030107032200'
const POINT_BYTES = 65
const COORDINATE_BYTES = 32

describe('normalizePublicKey', () => {
  const spki = generateSpki('P-256')
  const key = createPublicKey({ key: Buffer.from(spki, 'base64'), format: 'der', type: 'spki' })
  const pem = key.export({ format: 'pem', type: 'spki' }).toString()
  const forms: readonly (readonly [name: string, text: string])[] = [
    ['base64 SPKI DER', spki],
    ['PEM', pem],
    ['PEM with the line breaks of Windows', pem.replaceAll('\n', '\r\n')],
    ['PEM in one line', pem.replaceAll('\n', '')],
    ['base64 with white space', ` ${spki.slice(0, 64)}\n${spki.slice(64)}\n`],
    ['base64 without padding', spki.replace(/=+$/, '')],
    ['base64url', Buffer.from(spki, 'base64').toString('base64url')],
    ['a compressed point', compress(spki)],
  ]
  for (const [name, text] of forms) {
    test(`one key is one text: ${name}`, () => assert.equal(normalizePublicKey(text), spki))
  }

  const others: readonly (readonly [name: string, text: string])[] = [
    ['nothing', ''],
    ['no key', 'AAAA'],
    ['a key of another curve', generateSpki('P-384')],
    ['a PEM of something else', pem.replaceAll('PUBLIC KEY', 'CERTIFICATE')],
  ]
  for (const [name, text] of others) {
    test(`other text is unchanged: ${name}`, () => assert.equal(normalizePublicKey(text), text))
  }

  test('two keys stay two', () => {
    assert.notEqual(normalizePublicKey(generateSpki('P-256')), spki)
  })
})

function generateSpki(namedCurve: string): string {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve })
  return publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
}

function compress(spki: string): string {
  const point = Buffer.from(spki, 'base64').subarray(-POINT_BYTES)
  const isOdd = (point.at(-1) ?? 0) % 2 === 1
  const parts = [
    Buffer.from(COMPRESSED_HEADER, 'hex'),
    Buffer.of(isOdd ? 0x03 : 0x02),
    point.subarray(1, 1 + COORDINATE_BYTES),
  ]
  return Buffer.concat(parts).toString('base64')
}
