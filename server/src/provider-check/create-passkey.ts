import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import type { Sign } from './provider-wire.ts'

export interface CheckPasskey {
  /** The public key, as base64 SPKI DER. */
  readonly publicKey: string
  readonly sign: Sign
}

/** The flags for user present and user verified (WebAuthn, section 6.1). */
const FLAGS = 0x01 | 0x04

/**
 * Creates a passkey that exists only during this run. It signs requests to the enclave as a browser would, with the
 * canonical request as the challenge. Its private key is not stored, so afterwards nobody can control what the passkey
 * owns.
 */
export function createPasskey(origin: string): CheckPasskey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const counter = Buffer.alloc(4)
  const authenticatorData = Buffer.concat([sha256(new URL(origin).hostname), Buffer.of(FLAGS), counter])
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    sign: (payload) => {
      const challenge = Buffer.from(payload).toString('base64url')
      const clientData = Buffer.from(JSON.stringify({ type: 'webauthn.get', challenge, origin, crossOrigin: false }))
      const signed = Buffer.concat([authenticatorData, sha256(clientData)])
      const signature = sign('sha256', signed, { key: privateKey, dsaEncoding: 'der' })
      return `webauthn:${[authenticatorData, clientData, signature].map((part) => part.toString('base64url')).join(':')}`
    },
  }
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}
