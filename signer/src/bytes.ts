const BASE64URL_PATTERN = /^[A-Za-z0-9_-]*$/
const BASE64_PATTERN = /^[A-Za-z0-9+/]*={0,2}$/

export type Bytes = Uint8Array<ArrayBuffer>

/** Decodes base64url without padding (RFC 4648, section 5). Returns null for any other text. */
export function fromBase64Url(text: string): Bytes | null {
  return BASE64URL_PATTERN.test(text) ? decode(text.replaceAll('-', '+').replaceAll('_', '/')) : null
}

/** Decodes base64 (RFC 4648, section 4). Returns null for any other text. */
export function fromBase64(text: string): Bytes | null {
  return BASE64_PATTERN.test(text) ? decode(text) : null
}

export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

function decode(base64: string): Bytes | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}
