import type { Hash } from 'viem'
import type { LoggedTransfer } from '../../chain/transfer-log.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'

/**
 * USDC that came into one of our wallets, found in the chain's logs at the configured depth, and told once (D43). What
 * makes it the same deposit in another block is its transaction, its wallet and its position.
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
  /** Where it stood when it was found. */
  readonly blockNumber: bigint
  readonly createdAt: Date
}

/** A block up to which the chain was read, and its hash: another hash at that number means a reorganization. */
export interface DepositCursor {
  readonly blockNumber: bigint
  readonly blockHash: Hash
}

export type NumberedTransfer = LoggedTransfer & Pick<Deposit, 'position'>

/**
 * Numbers the transfers of each transaction to each wallet in the order in which they come. The log's index in its block
 * would not do: it is another one after a reorganization. A transfer of nothing is no deposit, but has its number.
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
