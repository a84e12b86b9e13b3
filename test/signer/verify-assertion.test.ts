import assert from 'node:assert/strict'
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { describe, test } from 'node:test'
import { assert as check, asyncProperty, integer, tuple, uint8Array } from 'fast-check'
import { createSoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import { verifyAssertion, type Assertion } from '../../signer/src/verify-assertion.ts'

const RP_ID = 'signer.localhost'
const ORIGIN = 'http://signer.localhost:4101'
const PAYLOAD = Buffer.from('{"version":1}')
const FLAGS_OFFSET = 32

const passkey = createSoftwarePasskey({ rpId: RP_ID, origin: ORIGIN })
const privateKey = createPrivateKey({ key: passkey.export().privateKeyJwk, format: 'jwk' })
const publicKey = createPublicKey(privateKey)
const given = passkey.assert(PAYLOAD).response
const expected = { payload: PAYLOAD, publicKey: passkey.publicKeySpki, rpId: RP_ID }

const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
const toBytes = (text: string): Buffer => Buffer.from(text, 'base64url')

/** Makes an assertion with the given authenticator data and client data, and with a correct signature over them. */
function resign({
  authenticatorData,
  clientDataJSON,
}: {
  authenticatorData?: Buffer
  clientDataJSON?: Buffer
}): Assertion {
  const data = authenticatorData ?? toBytes(given.authenticatorData)
  const client = clientDataJSON ?? toBytes(given.clientDataJSON)
  const signed = Buffer.concat([data, createHash('sha256').update(client).digest()])
  return {
    authenticatorData: toText(data),
    clientDataJSON: toText(client),
    signature: toText(sign('sha256', signed, privateKey)),
  }
}

function withFlags(flags: number): Assertion {
  const authenticatorData = toBytes(given.authenticatorData)
  authenticatorData.writeUInt8(flags, FLAGS_OFFSET)
  return resign({ authenticatorData })
}

function withClientData(changes: Record<string, unknown>): Assertion {
  const value = JSON.parse(toBytes(given.clientDataJSON).toString()) as Record<string, unknown>
  return resign({ clientDataJSON: Buffer.from(JSON.stringify({ ...value, ...changes })) })
}

describe('verifyAssertion', () => {
  test('accepts what the passkey signed', async () => {
    assert.equal(await verifyAssertion(given, expected), true)
    assert.equal(await verifyAssertion(resign({}), expected), true)
  })

  const other = createSoftwarePasskey({ rpId: RP_ID, origin: ORIGIN })
  const foreign = createSoftwarePasskey({ rpId: 'localhost', origin: 'http://localhost:4101' })
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ type: 'spki', format: 'der' })
  const refused: Record<string, [Assertion, Partial<typeof expected>]> = {
    'the signature of another passkey': [other.assert(PAYLOAD).response, {}],
    'another public key': [given, { publicKey: other.publicKeySpki }],
    'a public key of another curve': [given, { publicKey: p384.toString('base64') }],
    'no public key': [given, { publicKey: '' }],
    'a public key that is not base64': [given, { publicKey: `${passkey.publicKeySpki}*` }],
    'another payload': [given, { payload: Buffer.from('{"version":2}') }],
    'the relying party of another site': [given, { rpId: 'localhost' }],
    'a passkey of another site': [foreign.assert(PAYLOAD).response, { publicKey: foreign.publicKeySpki }],
    'the user was not present': [withFlags(0x04), {}],
    'the user was not verified': [withFlags(0x01), {}],
    'no flags': [withFlags(0x00), {}],
    'authenticator data that is too short': [
      resign({ authenticatorData: toBytes(given.authenticatorData).subarray(0, 36) }),
      {},
    ],
    'the creation of a passkey': [withClientData({ type: 'webauthn.create' }), {}],
    'a challenge with padding': [withClientData({ challenge: `${PAYLOAD.toString('base64url')}=` }), {}],
    'no challenge': [withClientData({ challenge: undefined }), {}],
    'client data that is not JSON': [resign({ clientDataJSON: Buffer.from('x') }), {}],
    'client data that is null': [resign({ clientDataJSON: Buffer.from('null') }), {}],
    'authenticator data that is not base64url': [{ ...given, authenticatorData: `${given.authenticatorData}+` }, {}],
    'client data that is not base64url': [{ ...given, clientDataJSON: '=' }, {}],
  }
  for (const [name, [assertion, changes]] of Object.entries(refused)) {
    test(`refuses: ${name}`, async () => {
      assert.equal(await verifyAssertion(assertion, { ...expected, ...changes }), false)
    })
  }

  const der = toBytes(given.signature)
  const [r, s] = readDer(der)
  const malformed: Record<string, Buffer> = {
    nothing: Buffer.alloc(0),
    'another tag': Buffer.concat([Buffer.of(0x31), der.subarray(1)]),
    'a wrong length': Buffer.concat([Buffer.of(0x30, der.length), der.subarray(2)]),
    'a length in the long form': Buffer.concat([Buffer.of(0x30, 0x81), der.subarray(1)]),
    'bytes after the end': Buffer.concat([der, Buffer.of(0)]),
    'bytes after the numbers': sequence(integerOf(r), integerOf(s), Buffer.of(0)),
    'a third number': sequence(integerOf(r), integerOf(s), integerOf(s)),
    'one number only': sequence(integerOf(r)),
    'an empty number': sequence(integerOf(Buffer.alloc(0)), integerOf(s)),
    'a number of another kind': sequence(Buffer.concat([Buffer.of(0x04), integerOf(r).subarray(1)]), integerOf(s)),
    'a zero in front that is not needed': sequence(integerOf(Buffer.concat([Buffer.of(0, 0), r])), integerOf(s)),
    'a number that is too long': sequence(integerOf(Buffer.alloc(40, 1)), integerOf(s)),
    'a negative number': sequence(integerOf(Buffer.alloc(32, 0xff)), integerOf(s)),
    'a number that ends after the signature': Buffer.concat([der.subarray(0, 3), Buffer.of(0x7f), der.subarray(4)]),
    zeros: sequence(integerOf(Buffer.alloc(1)), integerOf(Buffer.alloc(1))),
    'the two numbers without their frame': Buffer.concat([r, s]),
  }
  for (const [name, signature] of Object.entries(malformed)) {
    test(`refuses a signature with ${name}`, async () => {
      assert.equal(await verifyAssertion({ ...given, signature: toText(signature) }, expected), false)
    })
  }

  test('accepts exactly the signatures that Node accepts', async () => {
    const signed = Buffer.concat([
      toBytes(given.authenticatorData),
      createHash('sha256').update(toBytes(given.clientDataJSON)).digest(),
    ])
    const agree = async (signature: Buffer): Promise<boolean> => {
      const known = verify('sha256', signed, publicKey, signature)
      assert.equal(await verifyAssertion({ ...given, signature: toText(signature) }, expected), known)
      return known
    }
    // Signs often, because signatures differ in length: the DER encoding of a smaller number is shorter.
    for (let count = 0; count < 300; count += 1) assert.ok(await agree(sign('sha256', signed, privateKey)))
    const change = tuple(integer({ min: 0, max: der.length - 1 }), integer({ min: 0, max: 255 }))
    await check(
      asyncProperty(change, async ([at, byte]) => {
        const changed = Buffer.from(der)
        changed[at] = byte
        await agree(changed)
      }),
    )
    await check(asyncProperty(uint8Array({ maxLength: 80 }), async (bytes) => void (await agree(Buffer.from(bytes)))))
  })
})

function readDer(signature: Buffer): [Buffer, Buffer] {
  const end = 4 + (signature[3] ?? 0)
  return [signature.subarray(4, end), signature.subarray(end + 2)]
}

function integerOf(digits: Buffer): Buffer {
  return Buffer.concat([Buffer.of(0x02, digits.length), digits])
}

function sequence(...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.of(0x30, content.length), content])
}
