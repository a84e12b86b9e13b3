import { fromBase64, fromBase64Url, toBase64Url, type Bytes } from './bytes.ts'

/** The parts of a WebAuthn assertion that are needed to verify it. All are base64url. */
export interface Assertion {
  readonly authenticatorData: string
  readonly clientDataJSON: string
  /** The bytes are in DER. */
  readonly signature: string
}

export const RP_ID_HASH_BYTES = 32
export const AUTHENTICATOR_DATA_BYTES_MIN = 37
/** User present and user verified (WebAuthn, section 6.1). */
export const FLAGS_REQUIRED = 0x01 | 0x04
const COORDINATE_BYTES = 32

/**
 * Returns whether the passkey with this public key (base64 SPKI, P-256) signed exactly `payload` under this relying
 * party id (WebAuthn, section 7.2).
 */
export async function verifyAssertion(
  assertion: Assertion,
  { payload, publicKey, rpId }: { payload: Uint8Array; publicKey: string; rpId: string },
): Promise<boolean> {
  const authenticatorData = fromBase64Url(assertion.authenticatorData)
  const clientData = fromBase64Url(assertion.clientDataJSON)
  const der = fromBase64Url(assertion.signature)
  const spki = fromBase64(publicKey)
  if (authenticatorData === null || clientData === null || der === null || spki === null) return false
  if (authenticatorData.length < AUTHENTICATOR_DATA_BYTES_MIN) return false
  if (((authenticatorData[RP_ID_HASH_BYTES] ?? 0) & FLAGS_REQUIRED) !== FLAGS_REQUIRED) return false
  const rpIdHash = await sha256(new TextEncoder().encode(rpId))
  if (!rpIdHash.every((byte, index) => byte === authenticatorData[index])) return false
  if (!signsPayload(clientData, payload)) return false
  const signed = concat(authenticatorData, await sha256(clientData))
  return (await verifySigned(spki, { der, signed })) === true
}

/**
 * Returns whether the key (SPKI, P-256) made the signature (in DER) over the SHA-256 of these bytes. Null if it is not a
 * P-256 key.
 */
export async function verifySigned(
  spki: Bytes,
  { der, signed }: { der: Bytes; signed: Bytes },
): Promise<boolean | null> {
  const key = await importKey(spki)
  if (key === null) return null
  const signature = toRawSignature(der)
  if (signature === null) return false
  return await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, signed)
}

async function importKey(spki: Bytes) {
  try {
    return await crypto.subtle.importKey('spki', spki, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify'])
  } catch {
    // Another kind of key, or not a key at all.
    return null
  }
}

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

function signsPayload(clientData: Uint8Array, payload: Uint8Array): boolean {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(clientData))
    const { type, challenge } = value as { type?: unknown; challenge?: unknown }
    return type === 'webauthn.get' && challenge === toBase64Url(payload)
  } catch {
    return false
  }
}

/** Converts a DER signature to its two integers side by side, as WebCrypto expects it. Null if it is malformed. */
function toRawSignature(der: Bytes): Bytes | null {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return null
  const first = readInteger(der, 2)
  const second = first === null ? null : readInteger(der, first.end)
  if (first === null || second === null || second.end !== der.length) return null
  return concat(first.bytes, second.bytes)
}

/** Reads a DER integer, and pads it to the length of a coordinate. */
function readInteger(der: Bytes, at: number): { bytes: Bytes; end: number } | null {
  const length = der[at + 1] ?? 0
  const end = at + 2 + length
  if (der[at] !== 0x02 || length === 0 || end > der.length) return null
  const digits = der.slice(at + 2, end)
  const [first = 0, second = 0] = digits
  // A number is negative if its first bit is set. A zero byte in front is allowed only if the number would be negative
  // without it.
  if (first >= 0x80 || (first === 0 && second < 0x80)) return null
  const significant = first === 0 ? digits.slice(1) : digits
  if (significant.length > COORDINATE_BYTES) return null
  return { bytes: concat(new Uint8Array(COORDINATE_BYTES - significant.length), significant), end }
}

export function concat(first: Uint8Array, second: Uint8Array): Bytes {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}
