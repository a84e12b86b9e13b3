/**
 * A WebAuthn challenge that waits for the browser's response. It can be used once, even if the response turns out to be
 * invalid.
 */
export interface Ceremony {
  readonly kind: CeremonyKind
  /** base64url */
  readonly challenge: string
  /** The user who may respond. Null if the response is to tell who the user is. */
  readonly userId: string | null
  /** For a sign-up, the user to be created. */
  readonly applicant: Applicant | null
  readonly expiresAt: Date
}

export type CeremonyKind = 'sign_up' | 'sign_in' | 'verification' | 'passkey'

export interface Applicant {
  readonly name: string
  /** base64url */
  readonly userHandle: string
}

export const CEREMONY_MS = 5 * 60 * 1_000
