import type { OwnerAssertion } from '../../enclave/enclave.ts'
import type { Mode } from '../../values/mode.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { RelyingParty } from '../context.ts'
import type { PasskeyRegistration } from '../passkeys/passkey.ts'

/** A signature of a wallet passkey that the service has verified, with what others need in order to verify it again. */
export interface OwnerSignature {
  readonly credentialId: string
  /** The person whose passkey it is. Somebody else may have submitted the signature. */
  readonly userId: string
  /** SPKI DER. */
  readonly publicKey: Buffer
  /** Null if the passkey was registered before registrations were kept. */
  readonly registration: PasskeyRegistration | null
  readonly registeredAt: Date
  /** Where the passkey was used: the signer page. */
  readonly site: RelyingParty
  readonly challenge: Uint8Array
  readonly assertion: OwnerAssertion
  readonly receivedAt: Date
}

/**
 * What an owner signed: that a grant begins, also one that replaces another, or ends; that suspended grants are resumed;
 * who owns a wallet; a withdrawal; what belongs to a wallet.
 */
export type SignatureKind = 'grant' | 'revocation' | 'resume' | 'owners' | 'withdrawal' | 'record'

/** What a signature was given for. */
export interface SignaturePurpose {
  readonly workspaceId: string
  readonly mode: Mode
  readonly kind: SignatureKind
  /** The id of the grant, stop or payment; of a wallet its address. */
  readonly subject: string
  /** Who submitted the signature. */
  readonly actor: Actor
  /** Until when somebody might use the signature again. Null if it allows nothing. */
  readonly usableUntil: Date | null
  /** The bytes of which the challenge is the hash. Null if the challenge is what was signed. */
  readonly statement: Uint8Array | null
}

/** Which row of the table a signature is. */
export interface SignaturePlace {
  readonly workspaceId: string
  readonly credentialId: string
  readonly challengeSha256: Buffer
}

/** Binds an encrypted signature to its row, so that it cannot be decrypted from another row. */
export function signatureSealContext({ workspaceId, credentialId, challengeSha256 }: SignaturePlace): string {
  return JSON.stringify(['owner signature', workspaceId, credentialId, challengeSha256.toString('hex')])
}
