import type { Hash } from 'viem'
import type { LoggedTransfer } from '../../chain/transfer-log.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'

/**
 * USDC that one of our wallets received from another address, which may be a wallet of ours too. A deposit is found in the chain's logs at the configured depth, and one event
 * reports it (D43). It is identified by its transaction, wallet and position, so it stays the same deposit if a
 * reorganization moves it to another block.
 */
export interface Deposit {
  readonly workspaceId: string
  readonly id: string
  readonly mode: Mode
  readonly wallet: Address
  readonly from: Address
  readonly amountMicro: MicroUsdc
  readonly txHash: Hash
  /** The number of this transfer among the transaction's transfers to this wallet, starting at 0. */
  readonly position: number
  /** The block that contained the deposit when it was found. */
  readonly blockNumber: bigint
  readonly createdAt: Date
}

/**
 * The position up to which a chain was searched for deposits: the last block that was read, and its hash. If the chain
 * later has another hash at this number, there was a reorganization.
 */
export interface DepositCursor {
  readonly blockNumber: bigint
  readonly blockHash: Hash
}

/** The cursor of a mode, and the last block that was read a second time. */
export type ReadProgress = DepositCursor & { readonly rereadBlock: bigint }

export type NumberedTransfer = LoggedTransfer & Pick<Deposit, 'position'>

/**
 * Numbers the transfers of each transaction to each wallet, in the order of their logs. The log's index in its block
 * would not identify a transfer, because a reorganization can change that index. Transfers of zero, and transfers from a
 * wallet to itself, move nothing. They are numbered too, but left out of the result, because they are not deposits.
 */
export function numberTransfers(transfers: readonly LoggedTransfer[]): NumberedTransfer[] {
  const counts = new Map<string, number>()
  return transfers
    .map((transfer) => {
      const key = `${transfer.txHash} ${transfer.to}`
      const position = counts.get(key) ?? 0
      counts.set(key, position + 1)
      return { ...transfer, position }
    })
    .filter(({ from, to, amountMicro }) => amountMicro > 0n && from !== to)
}
