import { computed, narrow, nullable } from '../../../db/column.ts'
import { rowsOf, type Query } from '../../../db/query.ts'
import type { Payment, TxHash } from '../payment.ts'
import type { EqualPayments } from './decide-match.ts'

const EQUAL_ROW = { tx_hash: nullable(narrow<TxHash>(computed.text)), payments: computed.int4 }

/**
 * Counts the other payments of the same amount from the same wallet to the same recipient, grouped by the given
 * transactions. Leaves out failed payments and payments that were certainly not sent. Leaves out purchases, because the
 * transfers that their authorizations make are not among those that were found (`findTransfers`). Uses
 * `payments_one_per_transfer_log` and `payments_holding_balance`. The first condition on the workspace is written so that
 * the planner cannot read all payments of the wallet instead.
 */
export function countEqualPayments(payment: Payment, txHashes: readonly TxHash[]): Query<EqualPayments> {
  return {
    name: 'count_equal_payments',
    text: `select tx_hash, count(*)::integer as payments from payments
      where mode = $2 and tx_hash = any($7) and workspace_id || '' = $1 and wallet_address = $3 and to_address = $4
        and amount_micro = $5 and id <> $6 and status <> 'failed' and kind <> 'x402'
      group by tx_hash
      union all
      select null, count(*)::integer from payments
      where workspace_id = $1 and mode = $2 and wallet_address = $3 and settled_at is null
        and to_address = $4 and amount_micro = $5 and id <> $6 and kind <> 'x402' and (tx_hash is null or tx_hash <> all($7))
        and (tx_hash is not null or enclave_transaction_id is not null or fenced_until is not null
          or attempt_until is not null)`,
    values: [
      payment.workspaceId,
      payment.mode,
      payment.walletAddress,
      payment.to,
      payment.amountMicro,
      payment.id,
      txHashes,
    ],
    read: rowsOf(EQUAL_ROW, (rows) => ({
      byTransaction: new Map(rows.flatMap((row) => (row.tx_hash === null ? [] : [[row.tx_hash, row.payments]]))),
      undecided: rows.find((row) => row.tx_hash === null)?.payments ?? 0,
    })),
  }
}
