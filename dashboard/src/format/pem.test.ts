import assert from 'node:assert/strict'
import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { parseOwnerKey } from '../../../signer/src/evidence/owner-keys.ts'
import { fingerprintOf } from '../api/fingerprint-of.ts'
import { formatPem } from './pem.ts'

test('a public key as PEM is one that other programs and the verifier read', async () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const der = publicKey.export({ format: 'der', type: 'spki' })
  const pem = formatPem(der.toString('base64'))
  assert.equal(pem, publicKey.export({ format: 'pem', type: 'spki' }))
  assert.ok(createPublicKey(pem).equals(publicKey))
  assert.equal(parseOwnerKey(pem), der.toString('base64'))
  assert.equal(await fingerprintOf(der.toString('base64')), createHash('sha256').update(der).digest('hex'))
})
