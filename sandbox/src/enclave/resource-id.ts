import { randomBytes } from 'node:crypto'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'
const LETTERS = 26
const ID_CHARS = 24

/**
 * Creates a random id in the provider's format (cuid2): 24 characters of lower-case base 36, starting with a letter.
 */
export function createResourceId(): string {
  const bytes = [...randomBytes(ID_CHARS)]
  return bytes.map((byte, index) => ALPHABET.charAt(byte % (index === 0 ? LETTERS : ALPHABET.length))).join('')
}
