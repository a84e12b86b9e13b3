import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { JsonWebKey, KeyObject } from 'node:crypto'

/** A passkey as it is stored on disk. Anyone who has it can sign as its owner. */
export interface StoredPasskey {
  readonly rpId: string
  readonly origin: string
  /** base64url */
  readonly credentialId: string
  /** base64url */
  readonly userHandle: string
  readonly privateKeyJwk: JsonWebKey
  readonly counter: number
}

/** The result of `navigator.credentials.get()`, in the form of `@simplewebauthn/browser`. All bytes are base64url. */
export interface PasskeyAssertion {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly clientExtensionResults: Record<string, never>
  readonly response: {
    readonly authenticatorData: string
    readonly clientDataJSON: string
    /** DER */
    readonly signature: string
    readonly userHandle: string
  }
}

/** The result of `navigator.credentials.create()`, without attestation. All bytes are base64url. */
export interface PasskeyRegistration {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly clientExtensionResults: Record<string, never>
  readonly response: {
    readonly attestationObject: string
    readonly clientDataJSON: string
    readonly transports: ['internal']
  }
}

export interface SoftwarePasskey {
  /** base64url */
  readonly credentialId: string
  /** base64 SPKI DER, as the enclave expects it. */
  readonly publicKeySpki: string
  /** COSE_Key (RFC 9052, section 7), as a WebAuthn server stores it. */
  readonly publicKeyCose: Uint8Array<ArrayBuffer>
  /** Number of signatures made so far. */
  readonly counter: number
  /** Responds to a registration challenge (its bytes). */
  register(challenge: Uint8Array): PasskeyRegistration
  /** Signs a challenge (its bytes) with user presence and verification. */
  assert(challenge: Uint8Array): PasskeyAssertion
  /** The input of `restoreSoftwarePasskey`. */
  export(): StoredPasskey
}

const CREDENTIAL_ID_BYTES = 32
const USER_HANDLE_BYTES = 32
const COORDINATE_BYTES = 32
const AAGUID_BYTES = 16
/** User present, user verified (WebAuthn section 6.1). */
const FLAGS_ASSERTION = 0x01 | 0x04
/** The same, followed by attested credential data. */
const FLAGS_REGISTRATION = FLAGS_ASSERTION | 0x40

/**
 * Creates a passkey (ES256) in software. The sandbox and the tests use it in place of an owner with an authenticator.
 * `userHandle` (base64url) defaults to a random one.
 */
export function createSoftwarePasskey(options: { rpId: string; origin: string; userHandle?: string }): SoftwarePasskey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return restoreSoftwarePasskey({
    userHandle: randomBytes(USER_HANDLE_BYTES).toString('base64url'),
    ...options,
    credentialId: randomBytes(CREDENTIAL_ID_BYTES).toString('base64url'),
    privateKeyJwk: privateKey.export({ format: 'jwk' }),
    counter: 0,
  })
}

/** Restores a stored passkey. */
export function restoreSoftwarePasskey(stored: StoredPasskey): SoftwarePasskey {
  const privateKey = createPrivateKey({ key: stored.privateKeyJwk, format: 'jwk' })
  const publicKey = createPublicKey(privateKey)
  const publicKeyCose = encodeCoseKey(publicKey)
  const credential = { id: stored.credentialId, rawId: stored.credentialId, type: 'public-key' } as const
  let counter = stored.counter

  const formatClientData = (type: 'webauthn.get' | 'webauthn.create', challenge: Uint8Array): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge: toBase64Url(challenge), origin: stored.origin, crossOrigin: false }))

  return {
    credentialId: stored.credentialId,
    publicKeySpki: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    publicKeyCose,
    get counter() {
      return counter
    },
    register: (challenge) => {
      const authenticatorData = Buffer.concat([
        formatAuthenticatorData(stored.rpId, FLAGS_REGISTRATION, counter),
        formatCredentialData(stored.credentialId, publicKeyCose),
      ])
      return {
        ...credential,
        clientExtensionResults: {},
        response: {
          attestationObject: toBase64Url(encodeAttestation(authenticatorData)),
          clientDataJSON: toBase64Url(formatClientData('webauthn.create', challenge)),
          transports: ['internal'],
        },
      }
    },
    assert: (challenge) => {
      counter += 1
      const authenticatorData = formatAuthenticatorData(stored.rpId, FLAGS_ASSERTION, counter)
      const clientData = formatClientData('webauthn.get', challenge)
      const signed = Buffer.concat([authenticatorData, sha256(clientData)])
      return {
        ...credential,
        clientExtensionResults: {},
        response: {
          authenticatorData: toBase64Url(authenticatorData),
          clientDataJSON: toBase64Url(clientData),
          signature: toBase64Url(sign('sha256', signed, { key: privateKey, dsaEncoding: 'der' })),
          userHandle: stored.userHandle,
        },
      }
    },
    export: () => ({ ...stored, counter }),
  }
}

/** rpIdHash, flags, counter (WebAuthn section 6.1). */
function formatAuthenticatorData(rpId: string, flags: number, counter: number): Buffer {
  const tail = Buffer.alloc(5)
  tail.writeUInt8(flags, 0)
  tail.writeUInt32BE(counter, 1)
  return Buffer.concat([sha256(Buffer.from(rpId)), tail])
}

/** AAGUID, credential id with its length, public key (WebAuthn section 6.5.2). */
function formatCredentialData(credentialId: string, cose: Uint8Array): Buffer {
  const id = Buffer.from(credentialId, 'base64url')
  const length = Buffer.alloc(2)
  length.writeUInt16BE(id.length, 0)
  return Buffer.concat([Buffer.alloc(AAGUID_BYTES), length, id, cose])
}

/** CBOR of `{ 1: 2, 3: -7, -1: 1, -2: x, -3: y }`: an EC2 key for ES256 on P-256 (RFC 9053 section 7.1.1). */
function encodeCoseKey(publicKey: KeyObject): Uint8Array<ArrayBuffer> {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const bytesHead = [0x58, COORDINATE_BYTES]
  return new Uint8Array(
    Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, ...bytesHead]),
      Buffer.from(x, 'base64url'),
      Buffer.from([0x22, ...bytesHead]),
      Buffer.from(y, 'base64url'),
    ]),
  )
}

/** CBOR of `{ "fmt": "none", "attStmt": {}, "authData": … }` (WebAuthn section 8.7). */
function encodeAttestation(authenticatorData: Uint8Array): Buffer {
  const length = Buffer.alloc(3)
  length.writeUInt8(0x59, 0)
  length.writeUInt16BE(authenticatorData.length, 1)
  return Buffer.concat([
    Buffer.from([0xa3]),
    encodeText('fmt'),
    encodeText('none'),
    encodeText('attStmt'),
    Buffer.from([0xa0]),
    encodeText('authData'),
    length,
    authenticatorData,
  ])
}

/** A CBOR text string shorter than 24 bytes. */
function encodeText(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)])
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}

function toBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
