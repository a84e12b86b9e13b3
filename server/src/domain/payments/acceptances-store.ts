import { all, type Query } from '../../db/query.ts'
import { PAYMENT_MOVES, type Payment, type PendingReason, type TxHash } from './payment.ts'
import { movePayment, PAYMENT_COLUMNS, PAYMENT_ROW, statusIs, toPayment } from './payments-store.ts'

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

/** How a statement names the recorded values: as parameters, or as columns of a row for each payment. */
interface AcceptanceTerms {
  readonly transactionId: string
  readonly txHash: string
  readonly now: string
  readonly userOperationHash: string
  readonly reason: string
  readonly nextLookupAt: string
}

/** The condition under which an acceptance is recorded, for `accept` in `PAYMENT_MOVES`. */
const GUARD = 'tx_hash is null'

/**
 * The changes are the same whether a statement records one acceptance or many. A second acceptance of a payment can add
 * the hash, but keeps the time of the first.
 */
function changesText({ transactionId, txHash, now, userOperationHash, reason, nextLookupAt }: AcceptanceTerms): string {
  return `enclave_transaction_id = ${transactionId}, tx_hash = ${txHash}, accepted_at = coalesce(accepted_at, ${now}),
      attempt_until = null, request_expires_at = null, pending_reason = ${reason}, next_look_at = ${nextLookupAt},
      user_operation_hash = coalesce(${userOperationHash}, user_operation_hash),
      searched_block = case when user_operation_hash is not distinct from coalesce(${userOperationHash}, user_operation_hash)
        then searched_block end`
}

function reasonOf({ txHash }: AcceptedSend): PendingReason | null {
  return txHash === null ? 'hash_unknown' : null
}

/**
 * Records that the enclave accepted the payment. A later call can add the hash, but keeps the time of the first call.
 */
export function markAccepted(
  payment: Payment,
  accepted: AcceptedSend,
  { now, nextLookupAt }: { now: Date; nextLookupAt: Date },
): Query<Payment | null> {
  const { transactionId, txHash, userOperationHash } = accepted
  return movePayment(payment, {
    name: 'mark_payment_accepted',
    move: 'accept',
    set: changesText({
      transactionId: '$3',
      txHash: '$4',
      now: '$5',
      userOperationHash: '$6',
      reason: '$7',
      nextLookupAt: '$8',
    }),
    guard: GUARD,
    values: [transactionId, txHash, now, userOperationHash, reasonOf(accepted), nextLookupAt],
  })
}

/**
 * Records the acceptances of several payments, each under the conditions of `markAccepted`. Returns the payments that
 * were changed. Leaves out payments that another transaction has locked, so this statement never waits for a lock. No
 * two acceptances may be of the same payment. Because the subquery locks rows, the planner does not merge it with the
 * outer query. So each payment is looked up by the primary key.
 */
export function markManyAccepted(acceptances: readonly Acceptance[]): Query<Payment[]> {
  return {
    name: 'mark_many_payments_accepted',
    text: `with free as materialized (
        select p.account_id as key_account, p.id as key_id, r.new_transaction, r.new_hash, r.new_time, r.new_operation,
          r.new_reason, r.new_look
        from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::text[], $7::text[],
          $8::timestamptz[]) as r (account_id, payment_id, new_transaction, new_hash, new_time, new_operation,
          new_reason, new_look)
        cross join lateral (select account_id, id from payments where account_id = r.account_id and id = r.payment_id
          for no key update skip locked) p
      )
      update payments set status = '${PAYMENT_MOVES.accept.to}', ${changesText({
        transactionId: 'new_transaction',
        txHash: 'new_hash',
        now: 'new_time',
        userOperationHash: 'new_operation',
        reason: 'new_reason',
        nextLookupAt: 'new_look',
      })}
      from free
      where account_id = key_account and id = key_id and ${statusIs(PAYMENT_MOVES.accept.from)} and ${GUARD}
      returning ${PAYMENT_COLUMNS}`,
    values: [
      acceptances.map(({ payment }) => payment.accountId),
      acceptances.map(({ payment }) => payment.id),
      acceptances.map(({ accepted }) => accepted.transactionId),
      acceptances.map(({ accepted }) => accepted.txHash),
      acceptances.map(({ now }) => now),
      acceptances.map(({ accepted }) => accepted.userOperationHash),
      acceptances.map(({ accepted }) => reasonOf(accepted)),
      acceptances.map(({ nextLookupAt }) => nextLookupAt),
    ],
    read: all(PAYMENT_ROW, toPayment),
  }
}
