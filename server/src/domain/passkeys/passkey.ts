/** A passkey that a user signs in with (D46). */
export interface Passkey {
  readonly userId: string
  /** The credential id that WebAuthn assigned, in base64url. */
  readonly credentialId: string
  readonly name: string
  /** The public key as a COSE_Key (RFC 9052, section 7). */
  readonly publicKeyCose: Buffer
  /** The number of signatures that the authenticator last reported. Always 0 if it does not count them. */
  readonly counter: number
  /** How browsers can reach the authenticator (WebAuthn, section 5.8.4). */
  readonly transports: string[]
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}

/**
 * The result of storing the signature counter that a passkey reported. `went_back` means that the counter is not higher
 * than one that the passkey had reported before: the only sign of a copied passkey (WebAuthn, section 6.1.1).
 */
export type CounterOutcome = 'stored' | 'went_back' | 'passkey_removed'

export const PASSKEYS_MAX = 20

/** The name of a user's first passkey. Users name only the passkeys that they add later. */
export const FIRST_PASSKEY_NAME = 'First passkey'

/** The data about a new passkey that comes from its registration. */
export type NewPasskey = Pick<Passkey, 'credentialId' | 'publicKeyCose' | 'counter' | 'transports'>

/** What the browser returned when a passkey was registered, in base64url (WebAuthn, section 5.2.1). */
export interface PasskeyRegistration {
  readonly attestationObject: string
  readonly clientDataJSON: string
}
