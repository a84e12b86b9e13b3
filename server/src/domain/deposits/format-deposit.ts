import { formatAmount } from '../../values/money.ts'
import type { PublicDeposit } from './deposit-schema.ts'
import type { Deposit } from './deposit.ts'

/** Formats a deposit for events and the dashboard (D42). */
export function formatDeposit(deposit: Deposit): PublicDeposit {
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
