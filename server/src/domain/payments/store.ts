import { all, changed, firstOrNull, type Query, type Row } from '../../db/query.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc } from '../../values/money.ts'
import {
  PAYMENT_MOVES,
  type Admission,
  type FailureCode,
  type Payment,
  type PaymentMove,
  type PaymentStatus,
  type TxHash,
} from './payment.ts'

export const PAYMENT_COLUMNS = `account_id, mode, id, agent_id, wallet_address, grant_id, to_address, amount_micro, amount_usdc, memo,
  idempotency_key, status, failure_code, tx_hash, created_at, to_char(allowance_month, 'YYYY-MM-DD') as allowance_month,
  attempt, attempt_until, fenced_until, enclave_transaction_id, mined_block, mined_block_hash, credential_id,
  accepted_at, settled_at`

export const IDEMPOTENCY_INDEX = 'payments_by_idempotency_key'

/** Writes the reservation, with the limits it was admitted under. */
export function insertPayment(payment: Payment, admission: Admission): Query<boolean> {
  return {
    name: 'insert_payment',
    text: `insert into payments (account_id, mode, id, agent_id, wallet_address, grant_id, to_address, amount_micro,
        amount_usdc, memo, idempotency_key, status, created_at, allowance_month, attempt, attempt_until,
        max_per_tx_micro, daily_cap_micro, spent_24h_micro, credential_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`,
    values: [
      payment.accountId,
      payment.mode,
      payment.id,
      payment.agentId,
      payment.walletAddress,
      payment.grantId,
      payment.to,
      payment.amountMicro,
      payment.amountUsdc,
      payment.memo,
      payment.idempotencyKey,
      payment.status,
      payment.createdAt,
      payment.allowanceMonth,
      payment.attempt,
      payment.attemptUntil,
      admission.maxPerTxMicro,
      admission.dailyCapMicro,
      admission.spent24hMicro,
      payment.credentialId,
    ],
    read: changed,
  }
}

/** By the primary key. */
export function findPayment(accountId: string, mode: Mode, id: string): Query<Payment | null> {
  return {
    name: 'find_payment',
    text: `select ${PAYMENT_COLUMNS} from payments where account_id = $1 and id = $2 and mode = $3`,
    values: [accountId, id, mode],
    read: firstOrNull(toPayment),
  }
}

/** By `payments_by_idempotency_key`. A null key finds nothing. */
export function findPaymentByKey(accountId: string, mode: Mode, key: string | null): Query<Payment | null> {
  return {
    name: 'find_payment_by_key',
    text: `select ${PAYMENT_COLUMNS} from payments where account_id = $1 and mode = $2 and idempotency_key = $3`,
    values: [accountId, mode, key],
    read: firstOrNull(toPayment),
  }
}

/**
 * Takes the next attempt at the enclave, unless one is under way or none is needed; answers the payment that is held
 * now. An attempt whose process died leaves its end as the fence.
 */
export function takeAttempt(payment: Payment, now: Date, until: Date): Query<Payment | null> {
  return {
    name: 'take_payment_attempt',
    text: `update payments set attempt = attempt + 1, attempt_until = $4,
        fenced_until = greatest(fenced_until, attempt_until)
      where account_id = $1 and id = $2 and status = 'pending' and tx_hash is null and enclave_transaction_id is null
        and (attempt_until is null or attempt_until <= $3)
      returning ${PAYMENT_COLUMNS}`,
    values: [payment.accountId, payment.id, now, until],
    read: firstOrNull(toPayment),
  }
}

/**
 * Lets the next attempt begin. `unanswered`: this one's request may still arrive until it expires, which is remembered;
 * otherwise it surely won't, or nothing was sent.
 */
export function giveBackAttempt(payment: Payment, { unanswered }: { unanswered: boolean }): Query<boolean> {
  return {
    name: 'give_back_payment_attempt',
    text: `update payments set attempt_until = null,
        fenced_until = case when $4 then greatest(fenced_until, attempt_until) else fenced_until end
      where account_id = $1 and id = $2 and attempt = $3 and status = 'pending' and attempt_until is not null`,
    values: [payment.accountId, payment.id, payment.attempt, unanswered],
    read: changed,
  }
}

/**
 * The one function that moves a payment: from the state that the table `PAYMENT_MOVES` names, and only while `guard`
 * holds, so that of two that see the same thing one moves it. Answers the payment as it then stands, or null.
 */
function movePayment(
  payment: Payment,
  {
    name,
    move,
    set,
    guard,
    values,
  }: { name: string; move: PaymentMove; set: string; guard: string; values: unknown[] },
): Query<Payment | null> {
  const { from, to } = PAYMENT_MOVES[move]
  return {
    name,
    text: `update payments set status = '${to}', ${set}
      where account_id = $1 and id = $2 and status = '${from}' and ${guard} returning ${PAYMENT_COLUMNS}`,
    values: [payment.accountId, payment.id, ...values],
    read: firstOrNull(toPayment),
  }
}

/** What the enclave accepted: written once; a hash that comes later is added, and does not move the time. */
export function markAccepted(
  payment: Payment,
  { transactionId, txHash }: { transactionId: string; txHash: TxHash | null },
  now: Date,
): Query<Payment | null> {
  return movePayment(payment, {
    name: 'mark_payment_accepted',
    move: 'accept',
    set: 'enclave_transaction_id = $3, tx_hash = $4, accepted_at = coalesce(accepted_at, $5), attempt_until = null',
    guard: 'tx_hash is null',
    values: [transactionId, txHash, now],
  })
}

/** The enclave sent the transaction anew under another hash. */
export function replaceHash(payment: Payment, txHash: TxHash): Query<Payment | null> {
  return movePayment(payment, {
    name: 'replace_payment_hash',
    move: 'accept',
    set: 'tx_hash = $4, mined_block = null, mined_block_hash = null',
    guard: 'tx_hash = $3',
    values: [payment.txHash, txHash],
  })
}

/** Notes in which block a pending payment stands, or that it stands in none any more. */
export function markMined(payment: Payment, block: { number: bigint; hash: string } | null): Query<Payment | null> {
  return movePayment(payment, {
    name: 'mark_payment_mined',
    move: 'note',
    set: 'mined_block = $4, mined_block_hash = $5',
    guard: 'tx_hash = $3',
    values: [payment.txHash, block?.number ?? null, block?.hash ?? null],
  })
}

export function markConfirmed(
  payment: Payment,
  block: { number: bigint; hash: string },
  now: Date,
): Query<Payment | null> {
  return movePayment(payment, {
    name: 'mark_payment_confirmed',
    move: 'confirm',
    set: 'mined_block = $4, mined_block_hash = $5, settled_at = $6',
    guard: 'tx_hash = $3',
    values: [payment.txHash, block.number, block.hash, now],
  })
}

/** Only while its hash, the enclave's id and its attempt are the ones that the decision was made on. */
export function markFailed(payment: Payment, code: FailureCode, now: Date): Query<Payment | null> {
  return movePayment(payment, {
    name: 'mark_payment_failed',
    move: 'fail',
    set: 'failure_code = $5, settled_at = $6, attempt_until = null',
    guard: 'tx_hash is not distinct from $3 and enclave_transaction_id is not distinct from $7 and attempt = $4',
    values: [payment.txHash, payment.attempt, code, now, payment.enclaveTransactionId],
  })
}

/** A page of what waits for the chain, oldest first. By `payments_unsettled`. */
export function listAwaitingChain(mode: Mode, after: Payment | null, limit: number): Query<Payment[]> {
  return {
    name: 'list_payments_awaiting_chain',
    text: `select ${PAYMENT_COLUMNS} from payments
      where mode = $1 and status = 'pending' and tx_hash is not null
        and (created_at, id) > (coalesce($2, timestamptz '-infinity'), coalesce($3, ''))
      order by created_at, id limit $4`,
    values: [mode, after?.createdAt ?? null, after?.id ?? null, limit],
    read: all(toPayment),
  }
}

/** A wallet's payments that wait for the chain. By `payments_pending_of_wallet`. */
export function listAwaitingChainOfWallet(
  accountId: string,
  mode: Mode,
  wallet: Address,
  limit: number,
): Query<Payment[]> {
  return {
    name: 'list_wallet_payments_awaiting_chain',
    text: `select ${PAYMENT_COLUMNS} from payments
      where account_id = $1 and mode = $2 and wallet_address = $3 and status = 'pending' and tx_hash is not null
      order by created_at, id limit $4`,
    values: [accountId, mode, wallet, limit],
    read: all(toPayment),
  }
}

/** What nobody drives on: no hash, and no attempt under way. By `payments_unsettled`. */
export function listWithoutHash(mode: Mode, now: Date, after: Payment | null, limit: number): Query<Payment[]> {
  return {
    name: 'list_payments_without_hash',
    text: `select ${PAYMENT_COLUMNS} from payments
      where mode = $1 and status = 'pending' and tx_hash is null and (attempt_until is null or attempt_until <= $2)
        and (created_at, id) > (coalesce($3, timestamptz '-infinity'), coalesce($4, ''))
      order by created_at, id limit $5`,
    values: [mode, now, after?.createdAt ?? null, after?.id ?? null, limit],
    read: all(toPayment),
  }
}

/** What has waited for the chain since before a time. By `payments_unsettled`. */
export function listLongAwaitingChain(
  mode: Mode,
  before: Date,
  after: Payment | null,
  limit: number,
): Query<Payment[]> {
  return {
    name: 'list_payments_long_awaiting_chain',
    text: `select ${PAYMENT_COLUMNS} from payments
      where mode = $1 and status = 'pending' and tx_hash is not null and mined_block is null and created_at <= $2
        and (created_at, id) > (coalesce($3, timestamptz '-infinity'), coalesce($4, ''))
      order by created_at, id limit $5`,
    values: [mode, before, after?.createdAt ?? null, after?.id ?? null, limit],
    read: all(toPayment),
  }
}

export function toPayment(row: Row): Payment {
  return {
    id: row['id'],
    accountId: row['account_id'],
    mode: row['mode'],
    agentId: row['agent_id'],
    walletAddress: row['wallet_address'] as Address,
    grantId: row['grant_id'],
    to: row['to_address'] as Address,
    amountMicro: microUsdc(BigInt(row['amount_micro'])),
    amountUsdc: row['amount_usdc'],
    memo: row['memo'],
    idempotencyKey: row['idempotency_key'],
    status: row['status'] as PaymentStatus,
    failureCode: row['failure_code'],
    txHash: row['tx_hash'],
    createdAt: row['created_at'],
    allowanceMonth: row['allowance_month'],
    attempt: row['attempt'],
    attemptUntil: row['attempt_until'],
    fencedUntil: row['fenced_until'],
    enclaveTransactionId: row['enclave_transaction_id'],
    minedBlock: row['mined_block'] === null ? null : BigInt(row['mined_block']),
    minedBlockHash: row['mined_block_hash'],
    credentialId: row['credential_id'],
    acceptedAt: row['accepted_at'],
    settledAt: row['settled_at'],
  }
}
