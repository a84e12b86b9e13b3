import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'

/** A wallet whose key lives in the enclave, and whose owner is a passkey (D13). It belongs to one account and one mode. */
export interface Wallet {
  readonly accountId: string
  readonly mode: Mode
  readonly address: Address
  readonly name: string
  readonly enclaveWalletId: string
  /** The owner as the enclave knows it: a key quorum of one, the passkey. */
  readonly ownerQuorumId: string
  readonly owner: OwnerPasskey
  readonly createdAt: Date
}

export interface OwnerPasskey {
  /** base64url, as WebAuthn gives it. */
  readonly credentialId: string
  /** The COSE key of the registration: ES256 only, since the enclave verifies P-256 signatures. */
  readonly publicKeyCose: Uint8Array
}

/** What a workspace is shown of a wallet. */
export interface WalletSummary extends Wallet {
  /** Whose passkey its owner is; null once the passkey was removed from the person. */
  readonly ownedBy: { readonly userId: string; readonly userName: string; readonly passkeyName: string } | null
  /** Grants on it that are not revoked. */
  readonly grants: number
}

/** A list of wallets ends here. */
export const WALLETS_LISTED_MAX = 1_000
