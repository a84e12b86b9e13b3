import type { Abi, Address, Hash, Hex } from 'viem'
import type { StatusFault } from './faults.ts'
import type { TypedDataShape } from './typed-data.ts'
import type { UserOperation } from './user-operation.ts'

/**
 * Resources are stored in the form in which the API returns them, with the provider's names in snake_case. Times are
 * Unix milliseconds.
 */
export interface QuorumRecord {
  readonly id: string
  readonly display_name: string | null
  readonly authorization_threshold: number
  readonly authorization_keys: readonly { readonly public_key: string; readonly display_name: null }[]
  readonly user_ids: null
}

export interface SignerRecord {
  readonly signer_id: string
  readonly override_policy_ids?: readonly string[]
}

export interface WalletRecord {
  readonly id: string
  readonly address: Address
  readonly chain_type: 'ethereum'
  readonly policy_ids: readonly string[]
  readonly additional_signers: readonly SignerRecord[]
  readonly owner_id: string | null
  readonly created_at: number
  readonly exported_at: null
  readonly imported_at: null
  readonly archived_at: null
  readonly display_name?: string
  readonly external_id?: string
}

export type Operator = 'eq' | 'gt' | 'gte' | 'lt' | 'lte' | 'in'

export interface ConditionRecord {
  readonly field_source:
    | 'ethereum_transaction'
    | 'ethereum_calldata'
    | 'ethereum_typed_data_domain'
    | 'ethereum_typed_data_message'
    | 'system'
  readonly field: string
  readonly operator: Operator
  readonly value: string | readonly string[]
  readonly abi?: Abi
  /** Present in a condition on a message: the EIP-712 types that the condition is for. */
  readonly typed_data?: TypedDataShape
}

export interface RuleRecord {
  readonly id: string
  readonly name: string
  readonly method: string
  readonly conditions: readonly ConditionRecord[]
  readonly action: 'ALLOW' | 'DENY'
}

export interface PolicyRecord {
  readonly id: string
  readonly version: '1.0'
  readonly name: string
  readonly chain_type: 'ethereum'
  readonly rules: readonly RuleRecord[]
  readonly owner_id: string | null
  readonly created_at: number
}

/** The provider's statuses. A `failed` transaction can never be mined, because another one has used its nonce. */
export type TransactionStatus =
  | 'pending'
  | 'broadcasted'
  | 'confirmed'
  | 'finalized'
  | 'execution_reverted'
  | 'failed'
  | 'replaced'
  | 'provider_error'

/**
 * A send, as clients of the API see it. If it is sponsored, it is a user operation, which is sent to the chain in a
 * bundle.
 */
export interface TransactionRecord {
  readonly id: string
  readonly walletId: string
  readonly caip2: string
  /** The hash of the broadcast that contains the send. Null while a user operation is in no bundle. */
  readonly hash: Hash | null
  /** For a sponsored send: the hash of its user operation, and the signed user operation. */
  readonly userOperationHash: Hash | null
  readonly operation: UserOperation | null
  readonly referenceId: string | null
  /** The true status. If the send has a fault, the API may report another one. */
  readonly status: TransactionStatus
  readonly createdAt: number
  /**
   * At `shownAt`, the API stops reporting `pending`. At `dueAt`, the send is bundled; null means never. Both are times
   * of the machine's clock.
   */
  readonly shownAt: number
  readonly dueAt: number | null
  readonly fault: StatusFault | null
}

/** A sender of transactions is either a wallet, by its id, or the enclave's own bundler, by this name. */
export const BUNDLER = 'bundler'

/** A signed transaction. It is sent again until it is mined. */
export interface BroadcastRecord {
  readonly hash: Hash
  /** The wallet's id, or `BUNDLER`. */
  readonly sender: string
  readonly caip2: string
  readonly nonce: number
  readonly raw: Hex
}

/** A response that is stored under its idempotency key, so that a retry gets it again. */
export interface Answer {
  readonly status: number
  readonly body: unknown
}
