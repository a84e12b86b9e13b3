import { createRequire } from 'node:module'
import type { Address, Hash, Hex } from 'viem'
import type { PolicyRecord, QuorumRecord, WalletRecord } from '../../src/enclave/records.ts'
import type {
  CreatePolicyBody,
  CreateQuorumBody,
  CreateWalletBody,
  UpdatePolicyBody,
  UpdateQuorumBody,
  UpdateWalletBody,
} from '../../src/enclave/schemas.ts'
import type { TypedData } from '../../src/enclave/typed-data.ts'

/**
 * The functions of the provider's official SDK that the tests call. The tests use the SDK because real clients use it.
 */
export interface SdkClient {
  wallets(): {
    create(params: CreateWalletBody & { idempotency_key?: string }): Promise<WalletRecord>
    get(id: string): Promise<WalletRecord>
    update(id: string, params: UpdateWalletBody & Signing): Promise<WalletRecord>
    ethereum(): {
      sendTransaction(id: string, params: SendParams): Promise<SendAnswer>
      signTypedData(id: string, params: TypedDataParams): Promise<{ signature: Hex; encoding: string }>
    }
  }
  policies(): {
    create(params: CreatePolicyBody & { idempotency_key?: string }): Promise<PolicyRecord>
    get(id: string): Promise<PolicyRecord>
    update(id: string, params: UpdatePolicyBody & Signing): Promise<PolicyRecord>
    delete(id: string, params: Signing): Promise<{ success: boolean }>
  }
  keyQuorums(): {
    create(params: CreateQuorumBody): Promise<QuorumRecord>
    get(id: string): Promise<QuorumRecord>
    update(id: string, params: UpdateQuorumBody & Signing): Promise<QuorumRecord>
    delete(id: string, params: Signing): Promise<{ success: boolean }>
  }
  transactions(): { get(id: string): Promise<WireTransaction> }
}

export interface Signing {
  readonly authorization_context?: {
    readonly authorization_private_keys?: readonly string[]
    readonly signatures?: readonly string[]
  }
  readonly request_expiry?: number
}

export interface SendParams extends Signing {
  readonly caip2: string
  readonly idempotency_key?: string
  readonly reference_id?: string
  readonly sponsor?: boolean
  readonly params: {
    readonly transaction: { to: Address; data: string; value: string; chain_id: number; from?: string }
  }
}

export interface TypedDataParams extends Signing {
  readonly caip2?: string
  readonly idempotency_key?: string
  readonly signature_options?: { readonly type: 'ecdsa' | 'erc1271' }
  readonly params: { readonly typed_data: TypedData }
}

export interface SendAnswer {
  readonly hash: Hash | ''
  readonly caip2: string
  readonly transaction_id: string
  readonly user_operation_hash?: Hash
  readonly reference_id?: string | null
}

export interface WireTransaction {
  readonly id: string
  readonly wallet_id: string
  readonly status: string
  readonly created_at: number
  readonly transaction_hash: Hash | null
  readonly user_operation_hash?: Hash
  readonly reference_id: string | null
  readonly sponsored: boolean
}

interface Sdk {
  readonly PrivyClient: new (options: object) => SdkClient
  formatRequestForAuthorizationSignature(input: object): Uint8Array
  generateP256KeyPair(): Promise<{ publicKey: string; privateKey: string }>
}

let sdk: Sdk | undefined

/**
 * Loads the SDK from the server's dependencies. The enclave's own code does not use it. Most test processes that start
 * an enclave send it no requests with the SDK, and loading it takes 0.2 s.
 */
export function loadSdk(): Sdk {
  sdk ??= createRequire(new URL('../../../server/package.json', import.meta.url))('@privy-io/node') as Sdk
  return sdk
}
