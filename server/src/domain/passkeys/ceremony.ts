/**
 * A WebAuthn challenge that waits for the browser's response. It can be used only once: even an invalid response uses
 * it up.
 */
export interface Ceremony {
  readonly kind: CeremonyKind
  /** base64url */
  readonly challenge: string
  /** The user who may respond. Null for a sign-up or sign-in, where the user is not known yet. */
  readonly userId: string | null
  /** For a sign-up, the data of the user who will be created. Null otherwise. */
  readonly applicant: Applicant | null
  readonly expiresAt: Date
}

export type CeremonyKind = 'sign_up' | 'sign_in' | 'verification' | 'passkey' | 'wallet_passkey'

export interface Applicant {
  readonly name: string
  /** base64url */
  readonly userHandle: string
}

export const CEREMONY_MS = 5 * 60 * 1_000
