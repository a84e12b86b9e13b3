import { countCodePoints, isStorable } from '../../values/text.ts'

/** A person. Nothing is known of them but what they call themselves. */
export interface User {
  readonly id: string
  readonly name: string
  /** WebAuthn's user handle: random, says nothing of the person. */
  readonly userHandle: Buffer
  readonly createdAt: Date
}

export const USER_HANDLE_BYTES = 32
export const NAME_CHARS_MAX = 100
const CONTROL_CHARACTER = /\p{Control}/u

/** A name that a person gives to themselves or to a passkey, trimmed: 1 to 100 characters, or null. */
export function parseName(text: string): string | null {
  const name = text.trim()
  if (name === '' || !isStorable(name) || CONTROL_CHARACTER.test(name)) return null
  return countCodePoints(name) <= NAME_CHARS_MAX ? name : null
}
