import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { describe, it } from 'node:test'
import { formatRequestForAuthorizationSignature } from '@privy-io/node'
import {
  createSignerKeyParser,
  generateSignerKey,
  parseSignerKey,
  SIGNER_KEYS_KEPT_MAX,
  signPayload,
} from './signer-key.ts'

// This key and signature were made with the provider's SDK. The key is public and used only here.
const PKCS8 =
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg1B59crjpjX7PVZAqnkv/S8lmgACo5QG5QHaP5s/VoTehRANCAATd34+HHc56xPNSupziQQoIIai+f069NI3DUldTxhSR4SSQXml17l2cFCwcnKRvtjLvzjtRzMahJfXJwlpUQnfS'
const SPKI =
  'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE3d+Phx3OesTzUrqc4kEKCCGovn9OvTSNw1JXU8YUkeEkkF5pde5dnBQsHJykb7Yy7847UczGoSX1ycJaVEJ30g=='
const PAYLOAD =
  '{"body":{"caip2":"eip155:8453","chain_type":"ethereum","method":"eth_sendTransaction","params":{"transaction":{"chain_id":8453,"data":"0xa9059cbb","to":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","value":"0x0"}}},"headers":{"privy-app-id":"app-test","privy-idempotency-key":"idem-1","privy-request-expiry":"1893456000000"},"method":"POST","url":"http://127.0.0.1:4010/v1/wallets/w00000000000000000000001/rpc","version":1}'
const SIGNATURE = 'MEUCIAYhuCNV4J9YUxT95yQD58ixfKu1iA9lffgVBI0j+LQiAiEA4NsMjMCTTgLN1QlifTRhmY1gpRyC6oVBkT8Jsj6/pAs='

function isSignature(publicKey: string, payload: Uint8Array, signature: string): boolean {
  const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
  return verify('sha256', payload, { key, dsaEncoding: 'der' }, Buffer.from(signature, 'base64'))
}

describe('a signer key', () => {
  it("signs the provider's test vector so that the vector's public key verifies it", () => {
    const payload = formatRequestForAuthorizationSignature({
      version: 1,
      method: 'POST',
      url: 'http://127.0.0.1:4010/v1/wallets/w00000000000000000000001/rpc',
      body: {
        method: 'eth_sendTransaction',
        chain_type: 'ethereum',
        caip2: 'eip155:8453',
        params: {
          transaction: {
            to: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
            data: '0xa9059cbb',
            value: '0x0',
            chain_id: 8453,
          },
        },
      },
      headers: {
        'privy-app-id': 'app-test',
        'privy-idempotency-key': 'idem-1',
        'privy-request-expiry': '1893456000000',
      },
    })
    assert.equal(Buffer.from(payload).toString(), PAYLOAD)
    assert.ok(isSignature(SPKI, payload, SIGNATURE))
    assert.ok(isSignature(SPKI, payload, signPayload(parseSignerKey(PKCS8), payload)))
    assert.ok(!isSignature(SPKI, Buffer.from(`${PAYLOAD} `), signPayload(parseSignerKey(PKCS8), payload)))
  })

  it('is generated anew each time, in the formats that the enclave expects', () => {
    const [one, other] = [generateSignerKey(), generateSignerKey()]
    assert.notEqual(one.privateKey, other.privateKey)
    assert.equal(one.publicKey.length, 124)
    const payload = Buffer.from('payload')
    assert.ok(isSignature(one.publicKey, payload, signPayload(parseSignerKey(one.privateKey), payload)))
    assert.ok(!isSignature(other.publicKey, payload, signPayload(parseSignerKey(one.privateKey), payload)))
  })

  it('is parsed once while it is in use, and never confused with another', () => {
    const parse = createSignerKeyParser()
    const [one, other] = [generateSignerKey(), generateSignerKey()]
    const key = parse(one.privateKey)
    assert.equal(parse(one.privateKey), key)
    assert.notEqual(parse(other.privateKey), key)
    const payload = Buffer.from('payload')
    assert.ok(isSignature(other.publicKey, payload, signPayload(parse(other.privateKey), payload)))
    assert.equal(parse(one.privateKey), key)
    for (let i = 0; i < SIGNER_KEYS_KEPT_MAX; i++) parse(generateSignerKey().privateKey)
    assert.notEqual(parse(one.privateKey), key)
  })

  it('is refused when it is malformed or of another curve', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
    const p384 = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64')
    for (const text of ['', 'x', SPKI, p384]) assert.throws(() => parseSignerKey(text), TypeError)
  })
})
