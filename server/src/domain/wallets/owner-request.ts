import type { WalletSigner } from '../../enclave/wallet-move.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Actor } from '../audit/audit-entry.ts'

/** What an owner was asked to sign, apart from changes to grants. It never contains the signature. */
export type OwnerRequest = OwnerRequestFields & OwnerRequestContent

export type OwnerRequestContent =
  | { readonly kind: 'add_owner' | 'remove_owner'; readonly details: OwnersChangeDetails }
  | { readonly kind: 'move'; readonly details: MoveDetails }
  | { readonly kind: 'withdraw'; readonly details: Readonly<Record<string, unknown>> }

interface OwnerRequestFields {
  readonly accountId: string
  readonly id: string
  readonly mode: Mode
  readonly walletAddress: Address
  readonly expiresAt: Date
  readonly createdAt: Date
  /** The user who asked for the change or the withdrawal; null for the operator. */
  readonly createdBy: string | null
  /** Who submitted the owner's signature. Stored before the enclave is called. */
  readonly submittedBy: Actor | null
  /** When the change was recorded. */
  readonly doneAt: Date | null
}

export interface OwnersChangeDetails {
  /** The wallet passkey that becomes an owner, or stops being one. */
  readonly credential_id: string
  /** The members of the quorum of owners before and after the change, as base64 SPKI DER. */
  readonly before: readonly string[]
  readonly after: readonly string[]
}

export interface MoveDetails {
  /** The wallet passkey that becomes the wallet's first owner. */
  readonly credential_id: string
  readonly quorum_id: string
  /** The wallet's signers at the enclave before the move. */
  readonly signers_before: readonly WalletSigner[]
  readonly slots: readonly StoredSlot[]
}

/** A slot that exists at the enclave and is not the wallet's yet. */
export interface StoredSlot {
  readonly slot: number
  readonly policy_id: string
  readonly signer_id: string
  /** base64. The signer's private key, sealed for the row that the slot will have. */
  readonly private_key_sealed: string
}
