const KEY_BYTES = 16

/**
 * Makes a new idempotency key: 32 hexadecimal digits with 128 random bits. It does not use `crypto.randomUUID`, which
 * browsers only have on secure pages.
 */
export function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
