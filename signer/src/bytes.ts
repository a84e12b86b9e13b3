const BASE64URL_PATTERN = /^[A-Za-z0-9_-]*$/
const BASE64_PATTERN = /^[A-Za-z0-9+/]*={0,2}$/
/**
 * The last character, by how many characters follow the last group of four. Its bits that belong to no byte are zero, so
 * that the same bytes have one text only.
 */
const LAST_PATTERNS = [/(?:)/, /(?!)/, /[AQgw]$/, /[AEIMQUYcgkosw048]$/]

export type Bytes = Uint8Array<ArrayBuffer>

/** Decodes base64url without padding (RFC 4648, section 5). Returns null for any other text, also if unused bits are set. */
export function fromBase64Url(text: string): Bytes | null {
  if (!BASE64URL_PATTERN.test(text) || !endsWell(text)) return null
  return decode(text.replaceAll('-', '+').replaceAll('_', '/'))
}

/** Decodes base64 (RFC 4648, section 4). Returns null for any other text, also if unused bits are set. */
export function fromBase64(text: string): Bytes | null {
  if (!BASE64_PATTERN.test(text) || text.length % 4 !== 0 || !endsWell(text.replaceAll('=', ''))) return null
  return decode(text)
}

export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

function endsWell(text: string): boolean {
  return LAST_PATTERNS[text.length % 4]?.test(text) === true
}

function decode(base64: string): Bytes | null {
  try {
    const characters = atob(base64)
    const bytes = new Uint8Array(characters.length)
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = characters.charCodeAt(at)
    return bytes
  } catch {
    return null
  }
}
