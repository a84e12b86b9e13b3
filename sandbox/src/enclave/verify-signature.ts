import { createHash, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

const WEBAUTHN_PREFIX = 'webauthn:'
const WEBAUTHN_PARTS = 4
const BASE64_PATTERN = /^[A-Za-z0-9+/]+={0,2}$/
/** The layout of authenticator data: 32 bytes rpIdHash, 1 byte flags, 4 bytes counter (WebAuthn section 6.1). */
const AUTHENTICATOR_DATA_BYTES_MIN = 37
const FLAGS_OFFSET = 32
/** The flags "user present" and "user verified". Both are required, because an owner must sign deliberately. */
const FLAGS_DEMANDED = 0x01 | 0x04

/**
 * Returns whether `key` made `signature` over `payload`. A signature is either base64 DER ECDSA P-256 over SHA-256, or
 * a passkey's assertion. An assertion has the form `webauthn:<authenticatorData>:<clientDataJSON>:<signature>`, in
 * base64url, with the payload itself as the challenge. The provider knows no relying party, so neither the origin nor
 * rpIdHash is checked.
 */
export function verifySignature(signature: string, payload: Uint8Array, key: KeyObject): boolean {
  if (signature.startsWith(WEBAUTHN_PREFIX)) return verifyAssertion(signature, payload, key)
  return BASE64_PATTERN.test(signature) && verifyEcdsa(payload, key, Buffer.from(signature, 'base64'))
}

function verifyAssertion(signature: string, payload: Uint8Array, key: KeyObject): boolean {
  const parts = signature.split(':')
  if (parts.length !== WEBAUTHN_PARTS) return false
  const [authenticatorData, clientDataJson, der] = parts.slice(1).map((part) => Buffer.from(part, 'base64url'))
  if (authenticatorData === undefined || clientDataJson === undefined || der === undefined) return false
  if (authenticatorData.length < AUTHENTICATOR_DATA_BYTES_MIN) return false
  if ((authenticatorData.readUInt8(FLAGS_OFFSET) & FLAGS_DEMANDED) !== FLAGS_DEMANDED) return false
  const clientData = parseClientData(clientDataJson)
  if (clientData?.type !== 'webauthn.get') return false
  if (clientData.challenge !== Buffer.from(payload).toString('base64url')) return false
  const clientDataHash = createHash('sha256').update(clientDataJson).digest()
  return verifyEcdsa(Buffer.concat([authenticatorData, clientDataHash]), key, der)
}

function parseClientData(json: Buffer): { type?: unknown; challenge?: unknown } | null {
  try {
    const value: unknown = JSON.parse(json.toString('utf8'))
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

function verifyEcdsa(payload: Uint8Array, key: KeyObject, der: Uint8Array): boolean {
  try {
    return verify('sha256', payload, { key, dsaEncoding: 'der' }, der)
  } catch {
    return false
  }
}
