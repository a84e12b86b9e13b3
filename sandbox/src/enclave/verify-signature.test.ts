import assert from 'node:assert/strict'
import { createHash, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { createSoftwarePasskey } from '../software-passkey.ts'
import { formatSignedPayload } from './check-authorization.ts'
import { verifySignature } from './verify-signature.ts'

/** A signature made with the provider's SDK 0.35.0 and a public throw-away key. */
const VECTOR = {
  spki: 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE3d+Phx3OesTzUrqc4kEKCCGovn9OvTSNw1JXU8YUkeEkkF5pde5dnBQsHJykb7Yy7847UczGoSX1ycJaVEJ30g==',
  payload:
    '{"body":{"caip2":"eip155:8453","chain_type":"ethereum","method":"eth_sendTransaction","params":{"transaction":{"chain_id":8453,"data":"0xa9059cbb","to":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","value":"0x0"}}},"headers":{"privy-app-id":"app-test","privy-idempotency-key":"idem-1","privy-request-expiry":"1893456000000"},"method":"POST","url":"http://127.0.0.1:4010/v1/wallets/w00000000000000000000001/rpc","version":1}',
  signature: 'MEUCIAYhuCNV4J9YUxT95yQD58ixfKu1iA9lffgVBI0j+LQiAiEA4NsMjMCTTgLN1QlifTRhmY1gpRyC6oVBkT8Jsj6/pAs=',
}

const vectorKey = loadKey(VECTOR.spki)
const payload = Buffer.from(VECTOR.payload)

test("the SDK's test signature covers exactly the payload that we rebuild, and is valid", () => {
  const rebuilt = formatSignedPayload({
    method: 'POST',
    url: 'http://127.0.0.1:4010/v1/wallets/w00000000000000000000001/rpc',
    appId: 'app-test',
    idempotencyKey: 'idem-1',
    expiry: '1893456000000',
    body: {
      method: 'eth_sendTransaction',
      chain_type: 'ethereum',
      params: {
        transaction: {
          to: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
          value: '0x0',
          data: '0xa9059cbb',
          chain_id: 8453,
        },
      },
      caip2: 'eip155:8453',
    },
  })
  assert.equal(Buffer.from(rebuilt).toString(), VECTOR.payload)
  assert.equal(verifySignature(VECTOR.signature, rebuilt, vectorKey), true)
})

test('a missing and an empty body are both signed as an empty string', () => {
  const request = { method: 'DELETE', url: 'http://h/v1/policies/p', appId: 'a', idempotencyKey: null, expiry: null }
  const expected =
    '{"body":"","headers":{"privy-app-id":"a"},"method":"DELETE","url":"http://h/v1/policies/p","version":1}'
  for (const body of [undefined, null, {}]) {
    assert.equal(Buffer.from(formatSignedPayload({ ...request, body })).toString(), expected)
  }
})

test('a plain signature is rejected if the payload, the key or the encoding differs', () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const raw = sign('sha256', payload, { key: other.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64')
  assert.equal(verifySignature(VECTOR.signature, Buffer.from(VECTOR.payload.replace('8453', '8454')), vectorKey), false)
  assert.equal(verifySignature(VECTOR.signature, payload, other.publicKey), false)
  assert.equal(verifySignature(raw, payload, other.publicKey), false)
  assert.equal(verifySignature('', payload, vectorKey), false)
  assert.equal(verifySignature('not base64!', payload, vectorKey), false)
})

const passkey = createSoftwarePasskey({ rpId: 'localhost', origin: 'http://localhost:4101' })
const passkeyKey = loadKey(passkey.publicKeySpki)

test("a passkey's assertion over the payload is valid", () => {
  assert.equal(verifySignature(formatHeader(passkey.assert(payload).response), payload, passkeyKey), true)
})

/** Each row breaks one part of a valid assertion. */
const BROKEN: readonly [string, (parts: AssertionParts) => AssertionParts][] = [
  ['user not verified', (parts) => withFlags(parts, 0x01)],
  ['user not present', (parts) => withFlags(parts, 0x04)],
  ['a changed client data byte', (parts) => ({ ...parts, clientDataJSON: flipByte(parts.clientDataJSON, 30) })],
  [
    'a changed authenticator data byte',
    (parts) => ({ ...parts, authenticatorData: flipByte(parts.authenticatorData, 3) }),
  ],
  ['short authenticator data', (parts) => ({ ...parts, authenticatorData: parts.authenticatorData.slice(0, 20) })],
  ['client data that is not JSON', (parts) => ({ ...parts, clientDataJSON: Buffer.from('{').toString('base64url') })],
]

for (const [name, breakIt] of BROKEN) {
  test(`a passkey's assertion with ${name} is rejected`, () => {
    assert.equal(verifySignature(formatHeader(breakIt(passkey.assert(payload).response)), payload, passkeyKey), false)
  })
}

test('an assertion whose flags lack user verification is rejected, even if the passkey signed them', () => {
  // The passkey signs the changed flags. So the signature is valid, and only the missing flag is wrong.
  const { privateKeyJwk } = passkey.export()
  const { authenticatorData, clientDataJSON } = withFlags(passkey.assert(payload).response, 0x01)
  const resign = (data: string): string => {
    const signed = Buffer.concat([Buffer.from(data, 'base64url'), sha256(Buffer.from(clientDataJSON, 'base64url'))])
    return sign('sha256', signed, { key: privateKeyJwk, format: 'jwk', dsaEncoding: 'der' }).toString('base64url')
  }
  const unverified = { authenticatorData, clientDataJSON, signature: resign(authenticatorData) }
  assert.equal(verifySignature(formatHeader(unverified), payload, passkeyKey), false)
  const verified = withFlags(unverified, 0x05)
  const good = { ...verified, signature: resign(verified.authenticatorData) }
  assert.equal(verifySignature(formatHeader(good), payload, passkeyKey), true)
})

test("an assertion for another payload, or a registration's client data, is rejected", () => {
  assert.equal(verifySignature(formatHeader(passkey.assert(Buffer.from('other')).response), payload, passkeyKey), false)
  const { clientDataJSON } = passkey.register(payload).response
  const parts = { ...passkey.assert(payload).response, clientDataJSON }
  assert.equal(verifySignature(formatHeader(parts), payload, passkeyKey), false)
})

interface AssertionParts {
  readonly authenticatorData: string
  readonly clientDataJSON: string
  readonly signature: string
}

function formatHeader(parts: AssertionParts): string {
  return `webauthn:${parts.authenticatorData}:${parts.clientDataJSON}:${parts.signature}`
}

function withFlags(parts: AssertionParts, flags: number): AssertionParts {
  const data = Buffer.from(parts.authenticatorData, 'base64url')
  data.writeUInt8(flags, 32)
  return { ...parts, authenticatorData: data.toString('base64url') }
}

function flipByte(base64url: string, offset: number): string {
  const bytes = Buffer.from(base64url, 'base64url')
  bytes.writeUInt8(bytes.readUInt8(offset) ^ 1, offset)
  return bytes.toString('base64url')
}

function loadKey(spki: string) {
  return createPublicKey({ key: Buffer.from(spki, 'base64'), format: 'der', type: 'spki' })
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}
