/** A person. Nothing is known of them but what they call themselves. */
export interface User {
  readonly id: string
  readonly name: string
  /** WebAuthn's user handle: random, says nothing of the person. */
  readonly userHandle: Buffer
  readonly createdAt: Date
}

export const USER_HANDLE_BYTES = 32
