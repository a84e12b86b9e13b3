import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { JsonWebKey, KeyObject } from 'node:crypto'

/** A passkey as it is stored on disk. Anyone who has this data can sign as the passkey's owner. */
export interface StoredPasskey {
  readonly rpId: string
  readonly origin: string
  /** The credential's id in base64url. */
  readonly credentialId: string
  /** The user handle in base64url. */
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
    /** The ECDSA signature in DER, base64url-encoded. */
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
  /** The credential's id in base64url. */
  readonly credentialId: string
  /** The public key as base64 SPKI DER, as the enclave expects it. */
  readonly publicKeySpki: string
  /** The public key as COSE_Key (RFC 9052, section 7), as a WebAuthn server stores it. */
  readonly publicKeyCose: Uint8Array<ArrayBuffer>
  /** The number of signatures made so far. */
  readonly counter: number
  /** Responds to the challenge (raw bytes) of a registration. */
  register(challenge: Uint8Array): PasskeyRegistration
  /** Signs a challenge (raw bytes). The flags say that the user is present and was verified. */
  assert(challenge: Uint8Array): PasskeyAssertion
  /** Returns what `restoreSoftwarePasskey` needs. */
  export(): StoredPasskey
}

const CREDENTIAL_ID_BYTES = 32
const USER_HANDLE_BYTES = 32
const COORDINATE_BYTES = 32
const AAGUID_BYTES = 16
/** The flags "user present" and "user verified" (WebAuthn section 6.1). */
const FLAGS_ASSERTION = 0x01 | 0x04
/** The same flags, and a flag which says that attested credential data follows the counter. */
const FLAGS_REGISTRATION = FLAGS_ASSERTION | 0x40

/**
 * Creates a passkey (ES256) in software. The sandbox and the tests use it where a person would use an authenticator.
 * `userHandle` (base64url) is random by default.
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

/** Recreates a passkey from its stored form. */
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

/** Returns authenticator data: rpIdHash, flags, counter (WebAuthn section 6.1). */
function formatAuthenticatorData(rpId: string, flags: number, counter: number): Buffer {
  const tail = Buffer.alloc(5)
  tail.writeUInt8(flags, 0)
  tail.writeUInt32BE(counter, 1)
  return Buffer.concat([sha256(Buffer.from(rpId)), tail])
}

/** Returns attested credential data: AAGUID, credential id with its length, public key (WebAuthn section 6.5.2). */
function formatCredentialData(credentialId: string, cose: Uint8Array): Buffer {
  const id = Buffer.from(credentialId, 'base64url')
  const length = Buffer.alloc(2)
  length.writeUInt16BE(id.length, 0)
  return Buffer.concat([Buffer.alloc(AAGUID_BYTES), length, id, cose])
}

/** Returns `{ 1: 2, 3: -7, -1: 1, -2: x, -3: y }` in CBOR: an EC2 key for ES256 on P-256 (RFC 9053 section 7.1.1). */
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

/** Returns `{ "fmt": "none", "attStmt": {}, "authData": … }` in CBOR (WebAuthn section 8.7). */
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

/** Encodes a text shorter than 24 bytes in CBOR. */
function encodeText(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)])
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}

function toBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
