import { computed, listOf, narrow, nullable, pick, type RowOf } from '../../db/column.ts'
import { all, changed, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
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

/** What the enclave reports about a transfer that it accepted. */
export interface AcceptedSend {
  readonly transactionId: string
  readonly txHash: TxHash | null
  readonly userOperationHash: TxHash | null
}

/** What a look-up records in the payment's row. */
export interface LookupResult {
  readonly reason: PendingReason | null
  readonly nextLookupAt: Date
  readonly searchedBlock: bigint | null
  readonly senderNonce: bigint | null
  readonly userOperationHash: TxHash | null
}

const { payments } = tables

const STORED_ROW = {
  ...pick(payments, 'account_id', 'mode', 'id', 'agent_id'),
  wallet_address: narrow<Address>(payments.wallet_address),
  grant_id: payments.grant_id,
  to_address: narrow<Address>(payments.to_address),
  ...pick(payments, 'amount_micro', 'amount_usdc', 'memo', 'idempotency_key', 'status'),
  failure_code: narrow<FailureCode>(payments.failure_code),
  tx_hash: narrow<TxHash>(payments.tx_hash),
  ...pick(payments, 'created_at', 'attempt', 'attempt_until', 'request_expires_at', 'fenced_until'),
  enclave_transaction_id: payments.enclave_transaction_id,
  user_operation_hash: narrow<TxHash>(payments.user_operation_hash),
  sender_nonce: payments.sender_nonce,
  pending_reason: narrow<PendingReason>(payments.pending_reason),
  ...pick(payments, 'first_block', 'searched_block', 'looks', 'mined_block', 'mined_block_hash', 'log_index'),
  ...pick(payments, 'credential_id', 'accepted_at', 'settled_at'),
}

export const PAYMENT_ROW = { ...STORED_ROW, allowance_month: nullable(computed.text) }

export const PAYMENT_COLUMNS = `${listOf(STORED_ROW)}, to_char(allowance_month, 'YYYY-MM-DD') as allowance_month`

export const IDEMPOTENCY_INDEX = 'payments_by_idempotency_key'
export const TRANSFER_LOG_INDEX = 'payments_one_per_transfer_log'

/**
 * The condition of an update. The concatenation keeps the planner away from the indexes on the pending payments of all
 * workspaces: when they were analyzed while few payments were pending, it takes such an index for empty and would read
 * all of it instead of the primary key.
 */
function statusIs(status: PaymentStatus): string {
  return `status || '' = '${status}'`
}

/**
 * Inserts the reservation with the limits that it was admitted under. Its first look-up is due when its attempt ends.
 */
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

/** Uses the primary key. */
export function findPayment(accountId: string, mode: Mode, id: string): Query<Payment | null> {
  return {
    name: 'find_payment',
    text: `select ${PAYMENT_COLUMNS} from payments where account_id = $1 and id = $2 and mode = $3`,
    values: [accountId, id, mode],
    read: firstOrNull(PAYMENT_ROW, toPayment),
  }
}

/** Uses the index `payments_by_idempotency_key`. Null as the key finds nothing. */
export function findPaymentByKey(accountId: string, mode: Mode, key: string | null): Query<Payment | null> {
  return {
    name: 'find_payment_by_key',
    text: `select ${PAYMENT_COLUMNS} from payments where account_id = $1 and mode = $2 and idempotency_key = $3`,
    values: [accountId, mode, key],
    read: firstOrNull(PAYMENT_ROW, toPayment),
  }
}

/**
 * Claims the next attempt at the enclave, unless one is in progress or none is needed; returns the payment with the
 * claimed attempt. Nothing may be sent before `setRequestExpiry`. If the process of the last attempt died, the expiry of its
 * request becomes the fence.
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
    read: firstOrNull(PAYMENT_ROW, toPayment),
  }
}

/**
 * Records when the claimed attempt's request expires, by the provider's clock, before the request is sent. Returns null
 * if the attempt is no longer held.
 */
export function setRequestExpiry(payment: Payment, requestExpiresAt: Date): Query<Payment | null> {
  return {
    name: 'arm_payment_attempt',
    text: `update payments set request_expires_at = $4
      where account_id = $1 and id = $2 and attempt = $3 and ${statusIs('pending')} and attempt_until is not null
      returning ${PAYMENT_COLUMNS}`,
    values: [payment.accountId, payment.id, payment.attempt, requestExpiresAt],
    read: firstOrNull(PAYMENT_ROW, toPayment),
  }
}

/**
 * Releases the attempt, so that the next one can begin. With `mayArrive`, its request may still arrive until it
 * expires, which is recorded as the fence; without, it was certainly not sent, or it was rejected.
 */
export function releaseAttempt(
  payment: Payment,
  { mayArrive, reason, nextLookupAt }: { mayArrive: boolean; reason: PendingReason | null; nextLookupAt: Date },
): Query<boolean> {
  return {
    name: 'give_back_payment_attempt',
    text: `update payments set attempt_until = null, request_expires_at = null, pending_reason = $5, next_look_at = $6,
        fenced_until = case when $4 then greatest(fenced_until, request_expires_at, attempt_until)
          else fenced_until end
      where account_id = $1 and id = $2 and attempt = $3 and ${statusIs('pending')} and attempt_until is not null`,
    values: [payment.accountId, payment.id, payment.attempt, mayArrive, reason, nextLookupAt],
    read: changed,
  }
}

/**
 * The only function that moves a payment: from the state that `PAYMENT_MOVES` names, and only while `guard` holds, so
 * that only one of two processes that see the same thing moves it. Returns the moved payment, or null.
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
    read: firstOrNull(PAYMENT_ROW, toPayment),
  }
}

/** Records that the enclave accepted the payment, once. A hash that comes later is added; the time stays. */
export function markAccepted(
  payment: Payment,
  { transactionId, txHash, userOperationHash }: AcceptedSend,
  { now, nextLookupAt }: { now: Date; nextLookupAt: Date },
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
      nextLookupAt,
    ],
  })
}

/** Records the transaction that has the transfer: the first one that is known, or another one than before. */
export function replaceHash(
  payment: Payment,
  txHash: TxHash,
  { now, nextLookupAt, userOperationHash = null }: { now: Date; nextLookupAt: Date; userOperationHash?: TxHash | null },
): Query<Payment | null> {
  return movePayment(payment, {
    name: 'replace_payment_hash',
    move: 'accept',
    set: `tx_hash = $4, accepted_at = coalesce(accepted_at, $5), attempt_until = null, request_expires_at = null,
      mined_block = null, mined_block_hash = null, sender_nonce = null, pending_reason = null, next_look_at = $6,
      user_operation_hash = coalesce($7, user_operation_hash)`,
    guard: 'tx_hash is not distinct from $3',
    values: [payment.txHash, txHash, now, nextLookupAt, userOperationHash],
  })
}

/** Records what a look-up found without a hash, unless another process has moved the payment meanwhile. */
export function recordLookup(payment: Payment, lookup: LookupResult): Query<Payment | null> {
  return movePayment(payment, {
    name: 'note_payment_look',
    move: 'note',
    set: `looks = looks + 1, pending_reason = $5, next_look_at = $6, searched_block = $7, sender_nonce = $8,
      user_operation_hash = coalesce(user_operation_hash, $9)`,
    guard: 'tx_hash is not distinct from $3 and attempt = $4',
    values: [
      payment.txHash,
      payment.attempt,
      lookup.reason,
      lookup.nextLookupAt,
      lookup.searchedBlock,
      lookup.senderNonce,
      lookup.userOperationHash,
    ],
  })
}

/** Records why a payment with a hash is still pending. */
export function noteReason(payment: Payment, reason: PendingReason): Query<Payment | null> {
  return movePayment(payment, {
    name: 'note_payment_reason',
    move: 'note',
    set: 'pending_reason = $4',
    guard: 'tx_hash = $3',
    values: [payment.txHash, reason],
  })
}

/** Records the block of a pending payment; null when it is no longer in any block. */
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

/**
 * Confirms the payment by the Transfer log at `logIndex`. Violates `payments_one_per_transfer_log` if that log has
 * settled another payment.
 */
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

/**
 * Fails the payment, but only while its hash, the enclave's id and the attempt are those that the decision was based
 * on.
 */
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
 * A page of the payments that wait for the chain and were created after `since`, oldest first. Uses the index
 * `payments_awaiting_chain`. The conditions with `<>` mean the same as `status = 'pending'`, but with them the planner
 * cannot choose to read the whole of `payments_due_for_look` and sort it.
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
    read: all(PAYMENT_ROW, toPayment),
  }
}

/** The payments of a wallet that wait for the chain. Uses the index `payments_holding_balance`. */
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
    read: all(PAYMENT_ROW, toPayment),
  }
}

export function toPayment(row: RowOf<typeof PAYMENT_ROW>): Payment {
  return {
    id: row.id,
    accountId: row.account_id,
    mode: row.mode,
    agentId: row.agent_id,
    walletAddress: row.wallet_address,
    grantId: row.grant_id,
    to: row.to_address,
    amountMicro: microUsdc(BigInt(row.amount_micro)),
    amountUsdc: row.amount_usdc,
    memo: row.memo,
    idempotencyKey: row.idempotency_key,
    status: row.status,
    failureCode: row.failure_code,
    txHash: row.tx_hash,
    createdAt: row.created_at,
    allowanceMonth: row.allowance_month,
    attempt: row.attempt,
    attemptUntil: row.attempt_until,
    requestExpiresAt: row.request_expires_at,
    fencedUntil: row.fenced_until,
    enclaveTransactionId: row.enclave_transaction_id,
    userOperationHash: row.user_operation_hash,
    senderNonce: toBigInt(row.sender_nonce),
    pendingReason: row.pending_reason,
    firstBlock: toBigInt(row.first_block),
    searchedBlock: toBigInt(row.searched_block),
    lookups: row.looks,
    minedBlock: toBigInt(row.mined_block),
    minedBlockHash: row.mined_block_hash,
    logIndex: toBigInt(row.log_index),
    credentialId: row.credential_id,
    acceptedAt: row.accepted_at,
    settledAt: row.settled_at,
  }
}

function toBigInt(value: string | null): bigint | null {
  return value === null ? null : BigInt(value)
}
