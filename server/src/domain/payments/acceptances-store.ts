import { rowsOf, type Query } from '../../db/query.ts'
import { PAYMENT_MOVES, type Payment, type TxHash } from './payment.ts'
import { PAYMENT_COLUMNS, PAYMENT_ROW, statusIs, toPayment } from './payments-store.ts'

/** The fields that the enclave reports about a transfer that it accepted. */
export interface AcceptedSend {
  readonly transactionId: string
  readonly txHash: TxHash | null
  readonly userOperationHash: TxHash | null
}

/** The fact that the enclave accepted a payment, and the time at which we record it. */
export interface Acceptance {
  readonly payment: Payment
  readonly accepted: AcceptedSend
  readonly now: Date
  readonly nextLookupAt: Date
}

/**
 * Records that the enclave accepted the payments. Waits for other transactions that have locked them. A second
 * acceptance of a payment can add the hash, but keeps the time of the first. Returns the recorded payments in the order
 * of the acceptances, with null for a payment that has moved on.
 *
 * This is the move `accept` of `PAYMENT_MOVES`. Because the subquery locks rows, the planner does not merge it with the
 * outer query. So each payment is looked up by the primary key.
 */
export function markAccepted(acceptances: readonly Acceptance[]): Query<(Payment | null)[]> {
  return {
    name: 'mark_payments_accepted',
    text: acceptedText('for no key update'),
    values: [
      acceptances.map(({ payment }) => payment.workspaceId),
      acceptances.map(({ payment }) => payment.id),
      acceptances.map(({ accepted }) => accepted.transactionId),
      acceptances.map(({ accepted }) => accepted.txHash),
      acceptances.map(({ now }) => now),
      acceptances.map(({ accepted }) => accepted.userOperationHash),
      acceptances.map(({ accepted }) => (accepted.txHash === null ? 'hash_unknown' : null)),
      acceptances.map(({ nextLookupAt }) => nextLookupAt),
    ],
    read: rowsOf(PAYMENT_ROW, (rows) => {
      const recorded = new Map(rows.map((row) => [row.id, toPayment(row)]))
      return acceptances.map(({ payment }) => recorded.get(payment.id) ?? null)
    }),
  }
}

/** Does what `markAccepted` does, but never waits: a payment that another transaction has locked has null too. */
export function markFreeAccepted(acceptances: readonly Acceptance[]): Query<(Payment | null)[]> {
  const text = acceptedText('for no key update skip locked')
  return { ...markAccepted(acceptances), name: 'mark_free_payments_accepted', text }
}

function acceptedText(lock: string): string {
  const { from, to } = PAYMENT_MOVES.accept
  return `with locked as materialized (
        select p.workspace_id as key_workspace, p.id as key_id, r.new_transaction, r.new_hash, r.new_time, r.new_operation,
          r.new_reason, r.new_lookup
        from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::text[],
          $8::timestamptz[]) as r (workspace_id, payment_id, new_transaction, new_hash, new_time, new_operation,
          new_reason, new_lookup)
        cross join lateral (select workspace_id, id from payments where workspace_id = r.workspace_id and id = r.payment_id
          ${lock}) p
      )
      update payments set status = '${to}', enclave_transaction_id = new_transaction, tx_hash = new_hash,
        accepted_at = coalesce(accepted_at, new_time), attempt_until = null, request_expires_at = null,
        pending_reason = new_reason, next_lookup_at = new_lookup,
        user_operation_hash = coalesce(new_operation, user_operation_hash),
        searched_block = case when user_operation_hash is not distinct from coalesce(new_operation, user_operation_hash)
          then searched_block end
      from locked
      where workspace_id = key_workspace and id = key_id and ${statusIs(from)} and tx_hash is null
      returning ${PAYMENT_COLUMNS}`
}
