import { randomBytes } from 'node:crypto'

/** Crockford's base 32: 5 bits per character, without the letters that look like digits. */
const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/**
 * 20 characters contain 100 random bits. That is too many to guess, so it is safe to store the plain SHA-256 of a code.
 */
const CODE_CHARS = 20
const GROUP_PATTERN = /.{5}(?=.)/g
const CODE_PATTERN = new RegExp(`^[${BASE32}]{${CODE_CHARS}}$`)
/** A longer text is rejected at once. A code is much shorter, even with the spaces or dashes that a user may type. */
const TYPED_CHARS_MAX = 100

export const RECOVERY_CODES = 10

/** Generates a one-time code that a user can write down: `XXXXX-XXXXX-XXXXX-XXXXX`. */
export function createRecoveryCode(): string {
  let code = ''
  for (const byte of randomBytes(CODE_CHARS)) code += BASE32.charAt(byte & 31)
  return code.replace(GROUP_PATTERN, '$&-')
}

/**
 * Returns the recovery code that a user typed, in the form that is hashed. Returns null if the text cannot be a code.
 * Accepts upper and lower case, spaces, dashes, and letters that look like digits.
 */
export function parseRecoveryCode(typed: string): string | null {
  if (typed.length > TYPED_CHARS_MAX) return null
  const code = typed
    .toUpperCase()
    .replace(/[\s\p{Dash}]/gu, '')
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')
  return CODE_PATTERN.test(code) ? code.replace(GROUP_PATTERN, '$&-') : null
}
