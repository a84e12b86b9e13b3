import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { formatAnswer } from '../../sandbox/src/enclave/prepare-send.ts'
import type { PolicyRecord, QuorumRecord, TransactionStatus, WalletRecord } from '../../sandbox/src/enclave/records.ts'
import type { signTypedData } from '../../sandbox/src/enclave/sign-typed-data.ts'
import type { formatTransaction } from '../../sandbox/src/enclave/transactions.ts'
import type { EnclaveClient } from '../../server/src/enclave/privy/enclave-client.ts'

// The responses of the local enclave have the types that the provider's own SDK declares. The compiler checks this when
// it compiles this file.

type Sdk = EnclaveClient['sdk']
type Returned<Verb extends (...args: never[]) => unknown> = ReadonlyAll<Awaited<ReturnType<Verb>>>
type ReadonlyAll<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyAll<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: ReadonlyAll<T[Name]> }
    : T

type SdkWallet = Returned<ReturnType<Sdk['wallets']>['get']>
type SdkQuorum = Returned<ReturnType<Sdk['keyQuorums']>['get']>
type SdkPolicy = Returned<ReturnType<Sdk['policies']>['get']>
type SdkTransaction = Returned<ReturnType<Sdk['transactions']>['get']>
type SdkSend = Returned<ReturnType<ReturnType<Sdk['wallets']>['ethereum']>['sendTransaction']>
type SdkTypedData = Returned<ReturnType<ReturnType<Sdk['wallets']>['ethereum']>['signTypedData']>

/** Compiles only if the first type can be assigned to the second one. */
type Is<Ours extends Theirs, Theirs> = Ours extends Theirs ? true : never

type Checks = [
  Is<WalletRecord, SdkWallet>,
  Is<QuorumRecord, SdkQuorum>,
  Is<Omit<PolicyRecord, 'rules'>, Omit<SdkPolicy, 'rules'>>,
  Is<PolicyRecord['rules'][number]['action'], SdkPolicy['rules'][number]['action']>,
  Is<ReturnType<typeof formatTransaction>, SdkTransaction>,
  Is<TransactionStatus, SdkTransaction['status']>,
  Is<ReturnType<typeof formatAnswer>['data'], SdkSend>,
  Is<Awaited<ReturnType<typeof signTypedData>>['data'], SdkTypedData>,
]

test("the enclave's responses have the types of the provider's SDK", () => {
  const checks = [true, true, true, true, true, true, true, true] satisfies Checks
  assert.equal(checks.length, 8)
})
