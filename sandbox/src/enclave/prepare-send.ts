import { getAddress, toHex } from 'viem/utils'
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

/** Who signed the request. The owner may send without a policy. A signer must have one. */
export interface SendingParty {
  readonly isSigner: boolean
  readonly policyIds: readonly string[]
}

export interface SendOrder {
  readonly party: SendingParty
  readonly body: SendTransactionBody
  readonly keep: KeepAnswer
  /** Throws 401 if the signed request expired while it waited in the wallet's queue. */
  readonly checkExpiry: () => void
  /** The fault to apply after the response, or null. */
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

/**
 * Simulates a transfer and returns its gas. Like the provider, the enclave simulates before it checks the policy. So if
 * a transfer cannot succeed, the response says so, even if the sender's policy does not allow it either. The simulation
 * uses the latest block, so it ignores pending transactions.
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

/**
 * Throws 400 `policy_violation` unless the party's policies allow the transfer. A signer without a policy may send
 * nothing.
 */
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

/** Stores the send. `recordRest` stores whatever must be stored with the send, in the same database transaction. */
export function recordSend(
  { store, readLag, references }: Pick<EnclaveContext, 'store' | 'readLag' | 'references'>,
  tx: TransactionRecord,
  recordRest: () => void,
): void {
  store.inTransaction(() => {
    // Another send may have used the reference id while this one was simulated.
    references.check(tx.referenceId)
    store.addTransaction(tx)
    recordRest()
  })
  readLag.remember(tx.id, null)
}

/**
 * Formats the response to a send. As at the provider, the response to a sponsored send has no hash yet. The client
 * reads the transaction later to get it.
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
 * Calls a node. If the node rejects the call, throws the provider's `transaction_broadcast_failure`. If the node is
 * unreachable, throws a 503.
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
