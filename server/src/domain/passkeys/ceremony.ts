/** A WebAuthn challenge that waits for its answer. The first answer takes it, whatever it says. */
export interface Ceremony {
  readonly kind: CeremonyKind
  /** base64url */
  readonly challenge: string
  /** Who may answer; null where that is yet to be told. */
  readonly userId: string | null
  /** For a sign-up: who it will be. */
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
