/** A user. Nothing is known about them except the name they chose. */
export interface User {
  readonly id: string
  readonly name: string
  /** WebAuthn's user handle. It is random and reveals nothing about the user. */
  readonly userHandle: Buffer
  readonly createdAt: Date
}

export const USER_HANDLE_BYTES = 32
