import { randomBytes } from 'node:crypto'

/** Crockford's base 32: 5 bits a character, without the letters that look like digits. */
const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** 100 bits: nobody guesses one, so its SHA-256 keeps it. */
const CODE_CHARS = 20
const GROUP_PATTERN = /.{5}(?=.)/g
const CODE_PATTERN = new RegExp(`^[${BASE32}]{${CODE_CHARS}}$`)
/** Far more than anybody's way of grouping the characters takes. */
const TYPED_CHARS_MAX = 100

export const RECOVERY_CODES = 10

/** Makes a one-time code that a person can keep on paper: `XXXXX-XXXXX-XXXXX-XXXXX`. */
export function createRecoveryCode(): string {
  let code = ''
  for (const byte of randomBytes(CODE_CHARS)) code += BASE32.charAt(byte & 31)
  return code.replace(GROUP_PATTERN, '$&-')
}

/**
 * The code that somebody typed, in the one form that is hashed; null for what can't be one. Forgives case, spaces,
 * dashes, and letters that look like digits.
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
