import { formatDeposit } from '../../deposits/format-deposit.ts'
import type { Deposit } from '../../deposits/deposit.ts'
import type { Payment } from '../../payments/payment.ts'
import { ledgerEntryType, type LedgerEntry } from './ledger-entry.ts'
import type { PublicLedgerEntry } from './ledger-schema.ts'

/** Formats an entry of the ledger for `/v1` (D53). */
export function formatLedgerEntry(entry: LedgerEntry): PublicLedgerEntry {
  return 'kind' in entry ? formatOutgoing(entry) : formatIncoming(entry)
}

function formatOutgoing(payment: Payment): PublicLedgerEntry {
  const isConfirmed = payment.status === 'confirmed'
  return {
    id: payment.id,
    type: ledgerEntryType(payment),
    direction: 'out',
    wallet: payment.walletAddress,
    from: payment.walletAddress,
    to: payment.to,
    amount_usdc: payment.amountUsdc,
    status: payment.status,
    failure_code: payment.failureCode,
    tx_hash: payment.txHash,
    agent_id: payment.agentId,
    grant_id: payment.grantId,
    memo: payment.memo,
    idempotency_key: payment.idempotencyKey,
    created_at: payment.createdAt.toISOString(),
    confirmed_at: isConfirmed ? (payment.settledAt?.toISOString() ?? null) : null,
  }
}

function formatIncoming(deposit: Deposit): PublicLedgerEntry {
  const { id, wallet, from, amount_usdc, tx_hash, created_at } = formatDeposit(deposit)
  return {
    ...{ id, type: 'deposit', direction: 'in', wallet, from, to: wallet, amount_usdc, status: 'confirmed' },
    ...{ failure_code: null, tx_hash, agent_id: null, grant_id: null, memo: null, idempotency_key: null },
    ...{ created_at, confirmed_at: created_at },
  }
}
