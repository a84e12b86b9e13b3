import { formatAmount } from '../../values/money.ts'
import type { Deposit } from './deposit.ts'

/** A deposit as the world sees it (D42). */
export function formatDeposit(deposit: Deposit) {
  return {
    id: deposit.id,
    wallet: deposit.wallet,
    from: deposit.from,
    amount_usdc: formatAmount(deposit.amountMicro),
    tx_hash: deposit.txHash,
    block_number: Number(deposit.blockNumber),
    created_at: deposit.createdAt.toISOString(),
  }
}
