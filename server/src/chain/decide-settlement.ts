import type { Hash } from 'viem'
import type { Address } from '../values/address.ts'
import type { Receipt, ReceiptTransfer, Transfer } from './parse-receipt.ts'

type Block = { readonly blockNumber: bigint; readonly blockHash: Hash }

export type Settlement =
  | { readonly kind: 'waiting' }
  | ({ readonly kind: 'mined' } & Block)
  /** `logIndexes` are the Transfer logs that may settle the payment, in order. One log settles one payment (D24c). */
  | ({ readonly kind: 'confirmed'; readonly logIndexes: readonly bigint[] } & Block)
  | ({ readonly kind: 'failed'; readonly reason: 'reverted' | 'transfer_missing' } & Block)
  /** The transaction is deep enough, but proves nothing about this payment, which may still land in another transaction. */
  | { readonly kind: 'unproven' }

export type ExpectedTransfer = Transfer & {
  /** The user operation that carries the transfer; null while unknown, and for a plain transaction. */
  readonly operationHash: Hash | null
}

/**
 * Decides what a receipt proves about a payment (D24a, D28). Depth 1 is the head block itself. Until a block is deep enough,
 * neither a success nor a failure is final, because a reorganization may undo it. Without a receipt the payment waits, even
 * if there was one before. A receipt above `head` was read from another node, and is not deep enough.
 *
 * A failure is proven by the payment's own user operation, or by a transaction that the wallet itself sent. The receipt
 * of a bundler's transaction without that operation proves nothing: the bundler may send the operation again.
 */
export function decideSettlement({
  receipt,
  head,
  confirmations,
  expected,
}: {
  receipt: Receipt | null
  head: bigint
  confirmations: number
  expected: ExpectedTransfer
}): Settlement {
  if (receipt === null) return { kind: 'waiting' }
  const block = { blockNumber: receipt.blockNumber, blockHash: receipt.blockHash }
  if (head - receipt.blockNumber + 1n < BigInt(confirmations)) return { kind: 'mined', ...block }
  const evidence = readEvidence(receipt, expected)
  if (evidence === 'none') return { kind: 'unproven' }
  if (evidence === 'reverted') return { kind: 'failed', reason: 'reverted', ...block }
  if (evidence.length === 0) return { kind: 'failed', reason: 'transfer_missing', ...block }
  return { kind: 'confirmed', logIndexes: evidence.map(({ logIndex }) => logIndex), ...block }
}

/** Returns the transfers that may be the payment's, or `reverted`, or `none` if the receipt proves nothing. */
function readEvidence(receipt: Receipt, expected: ExpectedTransfer): readonly ReceiptTransfer[] | 'reverted' | 'none' {
  const same = receipt.transfers.filter((transfer) => isSameTransfer(transfer, expected))
  const { operationHash } = expected
  if (operationHash !== null) {
    // Another wallet's operation cannot be this payment's, even if the provider names it.
    const operation = receipt.operations.find(({ hash, sender }) => hash === operationHash && sender === expected.from)
    if (operation === undefined || receipt.status === 'reverted') return 'none'
    return operation.isSuccess ? same.filter((transfer) => transfer.operationHash === operationHash) : 'reverted'
  }
  if (isSentBy(receipt, expected.from)) return receipt.status === 'reverted' ? 'reverted' : same
  return same.length > 0 ? same : 'none'
}

function isSentBy(receipt: Receipt, wallet: Address): boolean {
  return receipt.sender === wallet
}

function isSameTransfer(a: Transfer, b: Transfer): boolean {
  return a.contract === b.contract && a.from === b.from && a.to === b.to && a.amountMicro === b.amountMicro
}
