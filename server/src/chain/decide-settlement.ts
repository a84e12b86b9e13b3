import type { Hash } from 'viem'
import type { Address } from '../values/address.ts'
import type { Receipt, ReceiptTransfer, Transfer } from './parse-receipt.ts'

type Block = { readonly blockNumber: bigint; readonly blockHash: Hash }
/** `gasWei` is what the wallet paid for the gas of the transaction. Null if it paid none, or if that is unknown. */
type MinedBlock = Block & { readonly gasWei: bigint | null }

export type Settlement =
  | { readonly kind: 'waiting' }
  | ({ readonly kind: 'mined' } & Block)
  /**
   * `logIndexes` are the positions of the Transfer logs that may settle the payment, in order. One log settles one
   * payment (D24c).
   */
  | ({ readonly kind: 'confirmed'; readonly logIndexes: readonly bigint[] } & MinedBlock)
  | ({ readonly kind: 'failed'; readonly reason: 'reverted' | 'transfer_missing' } & MinedBlock)
  /**
   * The transaction is deep enough, but proves nothing about this payment. Another transaction may still contain the
   * payment.
   */
  | { readonly kind: 'unproven' }

export type ExpectedTransfer = Transfer & {
  /**
   * The hash of the ERC-4337 user operation that contains the transfer. Null while it is unknown, and for a plain
   * transaction.
   */
  readonly operationHash: Hash | null
}

/**
 * Decides what a receipt proves about a payment (D24a, D28). Depth 1 is the head block itself. Until the receipt's
 * block is deep enough, neither success nor failure is final, because a reorganization may undo the block. If there is
 * no receipt, the payment stays pending, even if there was a receipt before. A receipt from a block above `head` came
 * from another node, and its block is not deep enough.
 *
 * Two things prove that a payment failed: its own user operation failed, or the wallet itself sent the transaction and
 * it failed. If a bundler's transaction does not contain the operation, that proves nothing, because the bundler may
 * send the operation again.
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
  const gasWei = isSentBy(receipt, expected.from) && receipt.gasWei !== 0n ? receipt.gasWei : null
  if (evidence === 'reverted') return { kind: 'failed', reason: 'reverted', ...block, gasWei }
  if (evidence.length === 0) return { kind: 'failed', reason: 'transfer_missing', ...block, gasWei }
  return { kind: 'confirmed', logIndexes: evidence.map(({ logIndex }) => logIndex), ...block, gasWei }
}

/**
 * Returns the transfers that may be this payment, or `reverted` if it failed, or `none` if the receipt proves nothing.
 */
function readEvidence(receipt: Receipt, expected: ExpectedTransfer): readonly ReceiptTransfer[] | 'reverted' | 'none' {
  const same = receipt.transfers.filter((transfer) => isSameTransfer(transfer, expected))
  const { operationHash } = expected
  if (operationHash !== null) {
    // An operation of another wallet cannot contain this payment, even if the enclave reports its hash.
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
