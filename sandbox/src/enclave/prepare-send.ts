import { getAddress, toHex } from 'viem'
import type { Address, Hex } from 'viem'
import { ChainRefusal } from './chain-node.ts'
import type { ChainNode } from './chain-node.ts'
import type { EnclaveContext } from './context.ts'
import { decidePolicy } from './decide-policy.ts'
import type { TransactionSubject, TypedDataSubject } from './decide-policy.ts'
import { ApiError, broadcastFailure, invalidData, policyViolation } from './errors.ts'
import type { StatusFault } from './faults.ts'
import type { KeepAnswer } from './idempotency.ts'
import type { TransactionRecord, WalletRecord } from './records.ts'
import type { Quantity, SendTransactionBody } from './schemas.ts'

/** Who signed the request: the owner, whom no policy has to bind, or a signer, whom a policy must bind. */
export interface SendingParty {
  readonly isSigner: boolean
  readonly policyIds: readonly string[]
}

export interface SendOrder {
  readonly party: SendingParty
  readonly body: SendTransactionBody
  readonly keep: KeepAnswer
  /** Throws 401 once the signed request has expired, because it may have waited for the wallet's turn. */
  readonly checkExpiry: () => void
  /** What was ordered to happen after the response. */
  readonly fault: StatusFault | null
}

export interface Transfer {
  readonly to: Address
  readonly data: Hex
  readonly value: bigint
  readonly chainId: number
}

export function parseTransfer(wallet: WalletRecord, { caip2, params }: SendTransactionBody): Transfer {
  const { to, data, value, chain_id, from } = params.transaction
  const chainId = parseChainId(caip2)
  if (chain_id !== undefined && parseQuantity(chain_id) !== BigInt(chainId)) {
    throw invalidData('chain_id does not match caip2')
  }
  if (from !== undefined && getAddress(from) !== wallet.address)
    throw invalidData('from is not the address of the wallet')
  return { to: getAddress(to), data: (data ?? '0x') as Hex, value: parseQuantity(value ?? 0), chainId }
}

export function parseChainId(caip2: string): number {
  return Number(caip2.slice(caip2.indexOf(':') + 1))
}

export function checkReference({ store }: Pick<EnclaveContext, 'store'>, referenceId: string | null | undefined): void {
  if (typeof referenceId === 'string' && store.findTransactionByReference(referenceId) !== null) {
    throw invalidData('reference_id must be unique')
  }
}

/**
 * The provider simulates before it checks the policy: a transfer that cannot succeed is rejected as such, for every
 * caller. It simulates on the latest block, so it does not see pending transactions.
 */
export async function simulate(chain: ChainNode, from: Address, { to, data, value }: Transfer): Promise<bigint> {
  return await onChain(() => chain.estimateGas({ from, to, data, value: toHex(value) }))
}

export function checkPolicy(context: EnclaveContext, party: SendingParty, transfer: Transfer): void {
  checkPolicies(context, party, {
    method: 'eth_sendTransaction',
    to: transfer.to,
    value: transfer.value,
    chainId: BigInt(transfer.chainId),
    data: transfer.data,
  })
}

/** Throws 400 `policy_violation` unless the party's policies allow it. A signer without a policy may do nothing. */
export function checkPolicies(
  { store, clock }: EnclaveContext,
  party: SendingParty,
  subject: Omit<TransactionSubject, 'nowSeconds'> | Omit<TypedDataSubject, 'nowSeconds'>,
): void {
  if (party.isSigner && party.policyIds.length === 0) throw policyViolation()
  const policies = party.policyIds.map((id) => store.findPolicy(id))
  const nowSeconds = BigInt(Math.floor(clock.nowMs() / 1000))
  if (decidePolicy(policies, { ...subject, nowSeconds }) === 'DENY') throw policyViolation()
}

/** Stores the send together with everything else that must become true at the same moment. */
export function recordSend(
  { store, readLag }: Pick<EnclaveContext, 'store' | 'readLag'>,
  tx: TransactionRecord,
  recordRest: () => void,
): void {
  store.inTransaction(() => {
    // Another send may have taken the reference while this one was simulated.
    checkReference({ store }, tx.referenceId)
    store.addTransaction(tx)
    recordRest()
  })
  readLag.remember(tx.id, null)
}

/**
 * As at the provider, a sponsored send is acknowledged before its hash is known, and the client asks for the
 * transaction later.
 */
export function formatAnswer(tx: TransactionRecord) {
  return {
    method: 'eth_sendTransaction' as const,
    data: {
      hash: tx.operation === null ? (tx.hash ?? '') : '',
      ...(tx.userOperationHash === null ? {} : { user_operation_hash: tx.userOperationHash }),
      caip2: tx.caip2,
      transaction_id: tx.id,
      reference_id: tx.referenceId,
    },
  }
}

/**
 * A rejection by the node becomes the provider's `transaction_broadcast_failure`. An unreachable node becomes a 503.
 */
export async function onChain<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof ChainRefusal) throw broadcastFailure(error.message)
    throw new ApiError(503, 'The chain cannot be reached')
  }
}

function parseQuantity(quantity: Quantity): bigint {
  return BigInt(quantity)
}
