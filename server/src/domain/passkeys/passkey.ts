/** A passkey with which a person signs in (D46). */
export interface Passkey {
  readonly userId: string
  /** base64url, as WebAuthn gives it. */
  readonly credentialId: string
  readonly name: string
  /** COSE_Key (RFC 9053). */
  readonly publicKeyCose: Buffer
  /** Signatures made, as the authenticator last told; one that does not count always tells 0. */
  readonly counter: number
  /** How browsers may reach it (WebAuthn, section 5.8.4). */
  readonly transports: string[]
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}

export const PASSKEYS_MAX = 20

/** Until its owner gives it another name. */
export const FIRST_PASSKEY_NAME = 'First passkey'

/** What the registration of a passkey tells of it. */
export type NewPasskey = Pick<Passkey, 'credentialId' | 'publicKeyCose' | 'counter' | 'transports'>
