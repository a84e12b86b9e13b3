import type { Hash } from 'viem'
import type { LoggedTransfer } from '../../chain/transfer-log.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'

/**
 * USDC that one of our wallets received. It is found in the chain's logs at the configured depth, and has one event (D43).
 * Its transaction, wallet and position identify it, even if a reorganization moves it to another block.
 */
export interface Deposit {
  readonly accountId: string
  readonly id: string
  readonly mode: Mode
  readonly wallet: Address
  readonly from: Address
  readonly amountMicro: MicroUsdc
  readonly txHash: Hash
  /** Which of the transaction's transfers to this wallet it is, from 0. */
  readonly position: number
  /** The block that it was in when it was found. */
  readonly blockNumber: bigint
  readonly createdAt: Date
}

/** The last block that was read, and its hash. Another hash at that number means a reorganization. */
export interface DepositCursor {
  readonly blockNumber: bigint
  readonly blockHash: Hash
}

export type NumberedTransfer = LoggedTransfer & Pick<Deposit, 'position'>

/**
 * Numbers the transfers of each transaction to each wallet, in the order of their logs. The log's index in its block would
 * not identify a transfer, because a reorganization can change it. A transfer of zero is not a deposit, but is numbered.
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
    .filter(({ amountMicro }) => amountMicro > 0n)
}
