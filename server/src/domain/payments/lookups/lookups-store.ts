import { computed, narrow, nullable } from '../../../db/column.ts'
import { all, changed, rowsOf, type Query } from '../../../db/query.ts'
import type { Mode } from '../../../values/mode.ts'
import type { Payment, TxHash } from '../payment.ts'
import { PAYMENT_COLUMNS, PAYMENT_ROW, toPayment } from '../payments-store.ts'
import type { EqualPayments } from './decide-match.ts'

/**
 * Payments that are due for a look-up and that no attempt holds, the longest due first. Uses the index
 * `payments_due_for_look`.
 */
export function listDueForLookup(mode: Mode, now: Date, limit: number): Query<Payment[]> {
  return {
    name: 'list_payments_due_for_look',
    text: `select ${PAYMENT_COLUMNS} from payments
      where mode = $1 and status = 'pending' and next_look_at <= $2 and (attempt_until is null or attempt_until <= $2)
      order by next_look_at, id limit $3`,
    values: [mode, now, limit],
    read: all(PAYMENT_ROW, toPayment),
  }
}

const EQUAL_ROW = { tx_hash: nullable(narrow<TxHash>(computed.text)), payments: computed.int4 }

/**
 * Counts the other payments of the same amount from the same wallet to the same recipient, without failed ones and
 * those that were certainly not sent. Uses `payments_one_per_transfer_log` and `payments_holding_balance`.
 */
export function countEqualPayments(payment: Payment, txHashes: readonly TxHash[]): Query<EqualPayments> {
  return {
    name: 'count_equal_payments',
    text: `select tx_hash, count(*)::integer as payments from payments
      where mode = $2 and tx_hash = any($7) and account_id = $1 and wallet_address = $3 and to_address = $4
        and amount_micro = $5 and id <> $6 and status <> 'failed'
      group by tx_hash
      union all
      select null, count(*)::integer from payments
      where account_id = $1 and mode = $2 and wallet_address = $3 and settled_at is null
        and to_address = $4 and amount_micro = $5 and id <> $6 and (tx_hash is null or tx_hash <> all($7))
        and (tx_hash is not null or enclave_transaction_id is not null or fenced_until is not null
          or attempt_until is not null)`,
    values: [
      payment.accountId,
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

/** Locks the wallet against other payments until the transaction ends. Uses the primary key of wallets. */
export function lockWallet({ accountId, mode, walletAddress }: Payment): Query<boolean> {
  return {
    name: 'lock_wallet_of_payment',
    text: 'select 1 from wallets where account_id = $1 and mode = $2 and address = $3 for no key update',
    values: [accountId, mode, walletAddress],
    read: changed,
  }
}
