import type { Hash } from 'viem'
import type { Receipt, Transfer } from './receipt.ts'

export type Settlement =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'mined'; readonly blockNumber: bigint; readonly blockHash: Hash }
  | { readonly kind: 'confirmed'; readonly blockNumber: bigint; readonly blockHash: Hash }
  | {
      readonly kind: 'failed'
      readonly reason: 'reverted' | 'transfer_missing'
      readonly blockNumber: bigint
      readonly blockHash: Hash
    }

/**
 * What a receipt says about a payment (D28). Depth 1 is the head block itself. Nothing is final above the depth, a
 * failure as little as a success, since a reorganization may undo either. No receipt is waiting, also after one was
 * seen before. A receipt above `head` comes of two nodes that differ, and is not deep enough.
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
  expected: Transfer
}): Settlement {
  if (receipt === null) return { kind: 'waiting' }
  const { blockNumber, blockHash } = receipt
  const depth = head - blockNumber + 1n
  if (depth < BigInt(confirmations)) return { kind: 'mined', blockNumber, blockHash }
  if (receipt.status === 'reverted') return { kind: 'failed', reason: 'reverted', blockNumber, blockHash }
  if (!receipt.transfers.some((transfer) => isSameTransfer(transfer, expected))) {
    return { kind: 'failed', reason: 'transfer_missing', blockNumber, blockHash }
  }
  return { kind: 'confirmed', blockNumber, blockHash }
}

function isSameTransfer(a: Transfer, b: Transfer): boolean {
  return a.contract === b.contract && a.from === b.from && a.to === b.to && a.amountMicro === b.amountMicro
}
