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
  type PendingReason,
  type TxHash,
} from './payment.ts'

/** What the enclave says that it accepted. */
export interface AcceptedSend {
  readonly transactionId: string
  readonly txHash: TxHash | null
  readonly userOperationHash: TxHash | null
}

/** What a look-up leaves behind on the row. */
export interface Look {
  readonly reason: PendingReason | null
  readonly nextLookAt: Date
  readonly searchedBlock: bigint | null
  readonly senderNonce: bigint | null
  readonly userOperationHash: TxHash | null
}

export const PAYMENT_COLUMNS = `account_id, mode, id, agent_id, wallet_address, grant_id, to_address, amount_micro, amount_usdc, memo,
  idempotency_key, status, failure_code, tx_hash, created_at, to_char(allowance_month, 'YYYY-MM-DD') as allowance_month,
  attempt, attempt_until, request_expires_at, fenced_until, enclave_transaction_id, user_operation_hash, sender_nonce,
  pending_reason, first_block, searched_block, looks, mined_block, mined_block_hash, log_index, credential_id,
  accepted_at, settled_at`

export const IDEMPOTENCY_INDEX = 'payments_by_idempotency_key'
export const TRANSFER_LOG_INDEX = 'payments_one_per_transfer_log'

/**
 * The condition of an update. The concatenation keeps the planner from any index over what is pending of everybody: after
 * an analysis in a quiet hour it takes such an index for empty, and would read all of it instead of the primary key.
 */
function statusIs(status: PaymentStatus): string {
  return `status || '' = '${status}'`
}

/** Writes the reservation, with the limits it was admitted under. It is looked up when its first attempt is over. */
export function insertPayment(payment: Payment, admission: Admission): Query<boolean> {
  return {
    name: 'insert_payment',
    text: `insert into payments (account_id, mode, id, agent_id, wallet_address, grant_id, to_address, amount_micro,
        amount_usdc, memo, idempotency_key, status, created_at, allowance_month, attempt, attempt_until,
        max_per_tx_micro, daily_cap_micro, spent_24h_micro, credential_id, request_expires_at, first_block,
        next_look_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`,
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
      payment.requestExpiresAt,
      payment.firstBlock,
      payment.attemptUntil ?? payment.createdAt,
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
 * Claims the next attempt at the enclave, unless one is under way or none is needed; returns the payment as it is held
 * now. Nothing may be sent before `armAttempt`. An attempt whose process died leaves its request's expiry as the fence.
 */
export function claimAttempt(payment: Payment, now: Date, until: Date): Query<Payment | null> {
  return {
    name: 'take_payment_attempt',
    text: `update payments set attempt = attempt + 1, attempt_until = $4, request_expires_at = null, next_look_at = $4,
        fenced_until = greatest(fenced_until, request_expires_at, attempt_until)
      where account_id = $1 and id = $2 and ${statusIs('pending')} and tx_hash is null and enclave_transaction_id is null
        and (attempt_until is null or attempt_until <= $3)
      returning ${PAYMENT_COLUMNS}`,
    values: [payment.accountId, payment.id, now, until],
    read: firstOrNull(toPayment),
  }
}

/**
 * Records, before it is sent, when the held attempt's request expires, by the provider's clock. Null when the attempt is
 * not held any more.
 */
export function armAttempt(payment: Payment, requestExpiresAt: Date): Query<Payment | null> {
  return {
    name: 'arm_payment_attempt',
    text: `update payments set request_expires_at = $4
      where account_id = $1 and id = $2 and attempt = $3 and ${statusIs('pending')} and attempt_until is not null
      returning ${PAYMENT_COLUMNS}`,
    values: [payment.accountId, payment.id, payment.attempt, requestExpiresAt],
    read: firstOrNull(toPayment),
  }
}

/**
 * Lets the next attempt begin. `mayArrive`: this attempt's request may still arrive until it expires, which is
 * remembered as the fence; otherwise it certainly was not sent, or was rejected.
 */
export function giveBackAttempt(
  payment: Payment,
  { mayArrive, reason, nextLookAt }: { mayArrive: boolean; reason: PendingReason | null; nextLookAt: Date },
): Query<boolean> {
  return {
    name: 'give_back_payment_attempt',
    text: `update payments set attempt_until = null, request_expires_at = null, pending_reason = $5, next_look_at = $6,
        fenced_until = case when $4 then greatest(fenced_until, request_expires_at, attempt_until)
          else fenced_until end
      where account_id = $1 and id = $2 and attempt = $3 and ${statusIs('pending')} and attempt_until is not null`,
    values: [payment.accountId, payment.id, payment.attempt, mayArrive, reason, nextLookAt],
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
      where account_id = $1 and id = $2 and ${statusIs(from)} and ${guard} returning ${PAYMENT_COLUMNS}`,
    values: [payment.accountId, payment.id, ...values],
    read: firstOrNull(toPayment),
  }
}

/** What the enclave accepted: written once; a hash that comes later is added, and does not move the time. */
export function markAccepted(
  payment: Payment,
  { transactionId, txHash, userOperationHash }: AcceptedSend,
  { now, nextLookAt }: { now: Date; nextLookAt: Date },
): Query<Payment | null> {
  return movePayment(payment, {
    name: 'mark_payment_accepted',
    move: 'accept',
    set: `enclave_transaction_id = $3, tx_hash = $4, accepted_at = coalesce(accepted_at, $5), attempt_until = null,
      request_expires_at = null, pending_reason = $7, next_look_at = $8,
      user_operation_hash = coalesce($6, user_operation_hash),
      searched_block = case when user_operation_hash is not distinct from coalesce($6, user_operation_hash)
        then searched_block end`,
    guard: 'tx_hash is null',
    values: [
      transactionId,
      txHash,
      now,
      userOperationHash,
      txHash === null ? ('hash_unknown' satisfies PendingReason) : null,
      nextLookAt,
    ],
  })
}

/** The transfer is in another transaction than was known, or the first one that is known. */
export function replaceHash(
  payment: Payment,
  txHash: TxHash,
  { now, nextLookAt, userOperationHash = null }: { now: Date; nextLookAt: Date; userOperationHash?: TxHash | null },
): Query<Payment | null> {
  return movePayment(payment, {
    name: 'replace_payment_hash',
    move: 'accept',
    set: `tx_hash = $4, accepted_at = coalesce(accepted_at, $5), attempt_until = null, request_expires_at = null,
      mined_block = null, mined_block_hash = null, sender_nonce = null, pending_reason = null, next_look_at = $6,
      user_operation_hash = coalesce($7, user_operation_hash)`,
    guard: 'tx_hash is not distinct from $3',
    values: [payment.txHash, txHash, now, nextLookAt, userOperationHash],
  })
}

/** What one look-up learned, short of a hash. Kept only while nobody else has moved the payment on. */
export function noteLook(payment: Payment, look: Look): Query<Payment | null> {
  return movePayment(payment, {
    name: 'note_payment_look',
    move: 'note',
    set: `looks = looks + 1, pending_reason = $5, next_look_at = $6, searched_block = $7, sender_nonce = $8,
      user_operation_hash = coalesce(user_operation_hash, $9)`,
    guard: 'tx_hash is not distinct from $3 and attempt = $4',
    values: [
      payment.txHash,
      payment.attempt,
      look.reason,
      look.nextLookAt,
      look.searchedBlock,
      look.senderNonce,
      look.userOperationHash,
    ],
  })
}

/** Notes why a payment with a hash is still pending. */
export function noteReason(payment: Payment, reason: PendingReason): Query<Payment | null> {
  return movePayment(payment, {
    name: 'note_payment_reason',
    move: 'note',
    set: 'pending_reason = $4',
    guard: 'tx_hash = $3',
    values: [payment.txHash, reason],
  })
}

/** Notes in which block a pending payment stands, or that it stands in none any more. */
export function markMined(payment: Payment, block: { number: bigint; hash: string } | null): Query<Payment | null> {
  return movePayment(payment, {
    name: 'mark_payment_mined',
    move: 'note',
    set: `mined_block = $4, mined_block_hash = $5,
      pending_reason = case when $4::bigint is null then pending_reason end`,
    guard: 'tx_hash = $3',
    values: [payment.txHash, block?.number ?? null, block?.hash ?? null],
  })
}

/** By the Transfer log at `logIndex`. Violates `payments_one_per_transfer_log` when that settled another payment. */
export function markConfirmed(
  payment: Payment,
  { number, hash, logIndex }: { number: bigint; hash: string; logIndex: bigint },
  now: Date,
): Query<Payment | null> {
  return movePayment(payment, {
    name: 'mark_payment_confirmed',
    move: 'confirm',
    set: 'mined_block = $4, mined_block_hash = $5, settled_at = $6, log_index = $7, pending_reason = null',
    guard: 'tx_hash = $3',
    values: [payment.txHash, number, hash, now, logIndex],
  })
}

/** Only while its hash, the enclave's id and its attempt are the ones that the decision was made on. */
export function markFailed(payment: Payment, code: FailureCode, now: Date): Query<Payment | null> {
  return movePayment(payment, {
    name: 'mark_payment_failed',
    move: 'fail',
    set: 'failure_code = $5, settled_at = $6, attempt_until = null, request_expires_at = null, pending_reason = null',
    guard: 'tx_hash is not distinct from $3 and enclave_transaction_id is not distinct from $7 and attempt = $4',
    values: [payment.txHash, payment.attempt, code, now, payment.enclaveTransactionId],
  })
}

/**
 * A page of what waits for the chain, created after `since`, oldest first. By `payments_awaiting_chain`. Written with
 * `<>`, which is the same as `status = 'pending'` to everybody but the planner: so written, a page cannot be read from
 * `payments_due_for_look`, all of it, and sorted.
 */
export function listAwaitingChain(
  mode: Mode,
  { since, after, limit }: { since: Date; after: Payment | null; limit: number },
): Query<Payment[]> {
  return {
    name: 'list_payments_awaiting_chain',
    text: `select ${PAYMENT_COLUMNS} from payments
      where mode = $1 and status <> 'confirmed' and status <> 'failed' and tx_hash is not null
        and (created_at, id) > ($2, $3)
      order by created_at, id limit $4`,
    values: [mode, after?.createdAt ?? since, after?.id ?? '', limit],
    read: all(toPayment),
  }
}

/** A wallet's payments that wait for the chain. By `payments_holding_balance`. */
export function listAwaitingChainOfWallet(
  accountId: string,
  mode: Mode,
  wallet: Address,
  limit: number,
): Query<Payment[]> {
  return {
    name: 'list_wallet_payments_awaiting_chain',
    text: `select ${PAYMENT_COLUMNS} from payments
      where account_id = $1 and mode = $2 and wallet_address = $3 and settled_at is null and tx_hash is not null
      order by created_at, id limit $4`,
    values: [accountId, mode, wallet, limit],
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
    requestExpiresAt: row['request_expires_at'],
    fencedUntil: row['fenced_until'],
    enclaveTransactionId: row['enclave_transaction_id'],
    userOperationHash: row['user_operation_hash'],
    senderNonce: toBigInt(row['sender_nonce']),
    pendingReason: row['pending_reason'],
    firstBlock: toBigInt(row['first_block']),
    searchedBlock: toBigInt(row['searched_block']),
    looks: row['looks'],
    minedBlock: toBigInt(row['mined_block']),
    minedBlockHash: row['mined_block_hash'],
    logIndex: toBigInt(row['log_index']),
    credentialId: row['credential_id'],
    acceptedAt: row['accepted_at'],
    settledAt: row['settled_at'],
  }
}

function toBigInt(value: string | null): bigint | null {
  return value === null ? null : BigInt(value)
}
