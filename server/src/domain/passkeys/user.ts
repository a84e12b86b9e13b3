/** A user. The service knows nothing about a user except the name that they chose. */
export interface User {
  readonly id: string
  readonly name: string
  /** WebAuthn's user handle. It is random and reveals nothing about the user. */
  readonly userHandle: Buffer
  readonly createdAt: Date
}

export const USER_HANDLE_BYTES = 32
