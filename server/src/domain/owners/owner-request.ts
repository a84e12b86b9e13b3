import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Actor } from '../audit/audit-entry.ts'

/** A change of a wallet's owners that an owner was asked to sign. It never contains the signature. */
export interface OwnerRequest {
  readonly accountId: string
  readonly id: string
  readonly mode: Mode
  readonly walletAddress: Address
  readonly kind: OwnersChangeKind
  readonly details: OwnersChangeDetails
  readonly expiresAt: Date
  readonly createdAt: Date
  /** The user who asked for the change; null for the operator. */
  readonly createdBy: string | null
  /** Who submitted the owner's signature. Stored before the enclave is called. */
  readonly submittedBy: Actor | null
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
