import type { Abi, Address, Hash, Hex } from 'viem'

/** Resources are kept in the very form in which they go over the wire (the provider's snake_case); times are Unix milliseconds. */
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
  readonly field_source: 'ethereum_transaction' | 'ethereum_calldata' | 'system'
  readonly field: string
  readonly operator: Operator
  readonly value: string | readonly string[]
  readonly abi?: Abi
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

/** `failed`: its nonce was used by another transaction, so that it can never be mined. */
export type TransactionStatus = 'broadcasted' | 'confirmed' | 'execution_reverted' | 'failed'

export interface TransactionRecord {
  readonly id: string
  readonly walletId: string
  readonly caip2: string
  readonly nonce: number
  readonly raw: Hex
  readonly hash: Hash
  /** Set when the send was sponsored. */
  readonly userOperationHash: Hash | null
  readonly referenceId: string | null
  readonly status: TransactionStatus
  readonly createdAt: number
}

/** What a request was answered with, kept for replays under its idempotency key. */
export interface Answer {
  readonly status: number
  readonly body: unknown
}
