import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Actor } from '../audit/audit-entry.ts'

/**
 * What every request has that an owner of a wallet was asked to sign. The request is stored, so that the signature can
 * be checked against it. The signature is kept apart, in `owner_signatures`.
 */
export interface StoredRequest {
  readonly workspaceId: string
  readonly id: string
  readonly mode: Mode
  readonly walletAddress: Address
  /** When the signed request expires, by our clock. */
  readonly expiresAt: Date
  readonly createdAt: Date
  /** The user who asked for the request; null for the operator. */
  readonly createdBy: string | null
  /** Who submitted the owner's signature. Stored before the enclave is called. Null if nobody has submitted it. */
  readonly submittedBy: Actor | null
}

/** A change of a wallet's owners that an owner was asked to sign (D61). */
export interface OwnerRequest extends StoredRequest {
  readonly kind: OwnersChangeKind
  readonly details: OwnersChangeDetails
  /** When the change was recorded. */
  readonly doneAt: Date | null
}

export type OwnersChangeKind = 'add_owner' | 'remove_owner'

export interface OwnersChangeDetails {
  /** The wallet passkey that becomes an owner, or stops being one. */
  readonly credential_id: string
  /** The owners' public keys before and after the change, as base64 SPKI DER. */
  readonly before: readonly string[]
  readonly after: readonly string[]
}
