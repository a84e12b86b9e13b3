import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'

/** A wallet of one account and mode. Its key is in the enclave, and its owner is a passkey (D13). */
export interface Wallet {
  readonly accountId: string
  readonly mode: Mode
  readonly address: Address
  readonly name: string
  readonly enclaveWalletId: string
  /** The owner at the enclave: a key quorum whose only member is the passkey. */
  readonly ownerQuorumId: string
  readonly owner: OwnerPasskey
  readonly createdAt: Date
}

/** The part of a passkey that owning a wallet depends on. */
export interface OwnerPasskey {
  /** The base64url that WebAuthn gives it. */
  readonly credentialId: string
  /** The COSE key from the registration. Always ES256, because the enclave only verifies P-256 signatures. */
  readonly publicKeyCose: Uint8Array
}

/** What members of the workspace see of a wallet. */
export interface WalletSummary extends Wallet {
  /** The user whose passkey owns the wallet. Null once that user has removed the passkey. */
  readonly ownedBy: { readonly userId: string; readonly userName: string; readonly passkeyName: string } | null
  /** The number of grants on the wallet that are not revoked. */
  readonly grants: number
}

/** A list shows at most this many wallets. */
export const WALLETS_LISTED_MAX = 1_000
