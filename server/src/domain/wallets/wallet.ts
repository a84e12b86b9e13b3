import type { SlotIds, WalletIds } from '../../enclave/enclave.ts'
import type { Mode } from '../../values/mode.ts'

/** A wallet has at most this many owners (D61). */
export const OWNERS_MAX = 5

/** A wallet of one workspace and mode. Its key is in the enclave, and its owners are wallet passkeys (D13, D60). */
export interface Wallet extends WalletIds {
  readonly workspaceId: string
  readonly mode: Mode
  readonly name: string
  readonly createdAt: Date
}

/** The data of a passkey that owns a wallet. */
export interface OwnerPasskey {
  /** The credential id that WebAuthn assigned, in base64url. */
  readonly credentialId: string
  /** The COSE key from the registration. Always ES256, because the enclave only verifies P-256 signatures. */
  readonly publicKeyCose: Uint8Array
}

/** A passkey that owns wallets (D60). It is created and used on the signer page, and belongs to a person. */
export interface WalletPasskey extends OwnerPasskey {
  readonly userId: string
  readonly name: string
  /** How browsers can reach the authenticator (WebAuthn, section 5.8.4). */
  readonly transports: readonly string[]
  readonly createdAt: Date
}

/** A place for one grant: the rules that an owner signed for it, and the one signer that they limit (decision 0034). */
export interface WalletSlot extends SlotIds {
  /** The slots of a wallet are numbered from 1, in the order of the wallet's signers at the enclave. */
  readonly slot: number
}

/** What members of the workspace see of a wallet. */
export interface WalletSummary extends Wallet {
  /** The number of grants on the wallet that are not revoked. */
  readonly grants: number
}

/** A list shows at most this many wallets. */
export const WALLETS_LISTED_MAX = 1_000

/** One request reads at most this many balances, because payments use the same chain nodes. */
export const BALANCES_READ_MAX = 100

/** Each person can have this many wallet passkeys. */
export const WALLET_PASSKEYS_MAX = 10
