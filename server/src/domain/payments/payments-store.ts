import { computed, listOf, narrow, pick, type RowOf } from '../../db/column.ts'
import { changed, countChanged, firstOrNull, rowsOf, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc } from '../../values/money.ts'
import { queueText } from '../transparency-log/transparency-log-store.ts'
import {
  AUTHORIZATION_FIRST_LOOKUP_MS,
  PAYMENT_MOVES,
  type Admission,
  type FailureCode,
  type Hex,
  type Payment,
  type PaymentKind,
  type PaymentMove,
  type PaymentStatus,
  type PendingReason,
  type TxHash,
} from './payment.ts'

/** The result of one look-up (asking the enclave and searching the chain), as it is recorded in the payment's row. */
export interface LookupResult {
  readonly reason: PendingReason | null
  readonly nextLookupAt: Date
  readonly searchedBlock: bigint | null
  readonly senderNonce: bigint | null
  readonly userOperationHash: TxHash | null
}

const { payments } = tables

export const PAYMENT_ROW = {
  ...pick(payments, 'workspace_id', 'mode', 'id'),
  kind: narrow<PaymentKind>(payments.kind),
  ...pick(payments, 'agent_id', 'grant_id'),
  wallet_address: narrow<Address>(payments.wallet_address),
  to_address: narrow<Address>(payments.to_address),
  ...pick(payments, 'amount_micro', 'amount_usdc', 'memo', 'idempotency_key', 'status'),
  failure_code: narrow<FailureCode>(payments.failure_code),
  tx_hash: narrow<TxHash>(payments.tx_hash),
  ...pick(payments, 'created_at', 'attempt', 'attempt_until', 'request_expires_at', 'fenced_until'),
  enclave_transaction_id: payments.enclave_transaction_id,
  user_operation_hash: narrow<TxHash>(payments.user_operation_hash),
  sender_nonce: payments.sender_nonce,
  pending_reason: narrow<PendingReason>(payments.pending_reason),
  ...pick(payments, 'first_block', 'searched_block', 'lookups', 'mined_block', 'mined_block_hash', 'log_index'),
  ...pick(payments, 'gas_wei', 'allowance_month', 'credential_id', 'request_id'),
  ...pick(payments, 'accepted_at', 'settled_at', 'valid_before'),
  authorization_nonce: narrow<Hex>(payments.authorization_nonce),
}

export const PAYMENT_COLUMNS = listOf(PAYMENT_ROW)

export const IDEMPOTENCY_INDEX = 'payments_by_idempotency_key'
export const AUTHORIZATION_INDEX = 'payments_by_authorization'
export const TRANSFER_LOG_INDEX = 'payments_one_per_transfer_log'

/**
 * Returns the SQL condition that a payment has this status, for updates that find the payment by its primary key. The
 * concatenation (`|| ''`) keeps the planner from using the indexes on the pending payments of all workspaces. If such
 * an index was analyzed while few payments were pending, the planner assumes that it is nearly empty, and would read
 * the whole index instead of the primary key.
 */
export function statusIs(status: PaymentStatus): string {
  return `status || '' = '${status}'`
}

/** The columns of a new payment, with their types. `insertedValues` returns their values in this order. */
const INSERTED = {
  ...{ workspace_id: 'text', mode: 'text', id: 'text', agent_id: 'text', wallet_address: 'text', grant_id: 'text' },
  ...{ to_address: 'text', amount_micro: 'numeric', amount_usdc: 'text', memo: 'text', idempotency_key: 'text' },
  ...{ status: 'text', created_at: 'timestamptz', allowance_month: 'date', attempt: 'integer' },
  ...{ attempt_until: 'timestamptz', max_per_tx_micro: 'numeric', daily_cap_micro: 'numeric' },
  ...{ spent_24h_micro: 'numeric', credential_id: 'text', request_expires_at: 'timestamptz', first_block: 'bigint' },
  ...{ next_lookup_at: 'timestamptz', kind: 'text', authorization_nonce: 'text', valid_before: 'timestamptz' },
  ...{ recovered_at: 'timestamptz', request_id: 'text' },
} as const
const INSERTED_NAMES = Object.keys(INSERTED).join(', ')

/** A new payment, with the limits that were checked for it. */
export interface NewPaymentRow {
  readonly payment: Payment
  /** Null for a withdrawal, and for a payment that is recorded after its money has moved. */
  readonly admission: Admission | null
  /** When the payment was recorded, if its money had already moved (D96). */
  readonly recoveredAt?: Date
}

function insertedValues({ payment, admission, recoveredAt }: NewPaymentRow): unknown[] {
  return [
    payment.workspaceId,
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
    admission?.maxPerTxMicro ?? null,
    admission?.dailyCapMicro ?? null,
    admission?.spent24hMicro ?? null,
    payment.credentialId,
    payment.requestExpiresAt,
    payment.firstBlock,
    firstLookupAt(payment),
    payment.kind,
    payment.authorization?.nonce ?? null,
    payment.authorization?.validBefore ?? null,
    recoveredAt ?? null,
    payment.requestId,
  ]
}

/**
 * Returns when the payment is looked up for the first time. A purchase is looked up only on the chain, so the look-up
 * does not wait until the process that works on the purchase has finished.
 */
function firstLookupAt({ kind, createdAt, attemptUntil }: Payment): Date {
  if (kind === 'x402') return new Date(createdAt.getTime() + AUTHORIZATION_FIRST_LOOKUP_MS)
  return attemptUntil ?? createdAt
}

/**
 * Inserts payments in the given order, and queues each decision for the transparency log (D80). The first look-up of each
 * payment is due when its attempt ends.
 */
export function insertPayments(rows: readonly NewPaymentRow[]): Query<number> {
  const arrays = Object.values(INSERTED).map((type, index) => `$${index + 1}::${type}[]`)
  const values = rows.map(insertedValues)
  return {
    name: 'insert_payments',
    text: `with added as (
        insert into payments (${INSERTED_NAMES})
        select ${INSERTED_NAMES} from unnest(${arrays.join(', ')}) as r (${INSERTED_NAMES})
        returning workspace_id as log_id, id as subject, created_at as at
      ) ${queueText('payment.decided', 'added')}`,
    values: Object.keys(INSERTED).map((_, index) => values.map((row) => row[index])),
    read: countChanged,
  }
}

/** Finds a payment by its id. Uses the primary key. */
export function findPayment(workspaceId: string, mode: Mode, id: string): Query<Payment | null> {
  return {
    name: 'find_payment',
    text: `select ${PAYMENT_COLUMNS} from payments where workspace_id = $1 and id = $2 and mode = $3`,
    values: [workspaceId, id, mode],
    read: firstOrNull(PAYMENT_ROW, toPayment),
  }
}

/** Finds a payment by its idempotency key. Finds nothing if the key is null. Uses `payments_by_idempotency_key`. */
export function findPaymentByKey(workspaceId: string, mode: Mode, key: string | null): Query<Payment | null> {
  return {
    name: 'find_payment_by_key',
    text: `select ${PAYMENT_COLUMNS} from payments where workspace_id = $1 and mode = $2 and idempotency_key = $3`,
    values: [workspaceId, mode, key],
    read: firstOrNull(PAYMENT_ROW, toPayment),
  }
}

/**
 * Finds the payments that have the idempotency keys of these requests, by the position of their request. `offset 0`
 * keeps the planner from merging the subquery into a join, so each request is looked up separately. Uses
 * `payments_by_idempotency_key`.
 */
export function findPaymentsByKeys(
  requests: readonly Pick<Payment, 'workspaceId' | 'mode' | 'idempotencyKey'>[],
): Query<ReadonlyMap<number, Payment>> {
  return {
    name: 'find_payments_by_keys',
    text: `select position, ${listOf(PAYMENT_ROW)}
      from unnest($1::text[], $2::text[], $3::text[]) with ordinality as r (of_workspace, of_mode, of_key, position)
      cross join lateral (select ${PAYMENT_COLUMNS} from payments
        where workspace_id = of_workspace and mode = of_mode and idempotency_key = of_key offset 0) p`,
    values: [
      requests.map(({ workspaceId }) => workspaceId),
      requests.map(({ mode }) => mode),
      requests.map(({ idempotencyKey }) => idempotencyKey),
    ],
    read: rowsOf({ position: computed.int8, ...PAYMENT_ROW }, (rows) => {
      return new Map(rows.map((row) => [Number(row.position) - 1, toPayment(row)]))
    }),
  }
}

/**
 * Claims the next attempt to send the payment, and returns the payment with the claimed attempt. Returns null if
 * another attempt is in progress or no attempt is needed, and for a withdrawal, which is sent only once. The caller may
 * send nothing before it has called `setRequestExpiry`. If the process of the last attempt died, the request of that
 * attempt may still arrive until it expires, so its expiry is kept as the fence (`fencedUntil`).
 */
export function claimAttempt(payment: Payment, now: Date, until: Date): Query<Payment | null> {
  return {
    name: 'claim_payment_attempt',
    text: `update payments set attempt = attempt + 1, attempt_until = $4, request_expires_at = null, next_lookup_at = $4,
        fenced_until = greatest(fenced_until, request_expires_at, attempt_until)
      where workspace_id = $1 and id = $2 and ${statusIs('pending')} and tx_hash is null and enclave_transaction_id is null
        and (attempt_until is null or attempt_until <= $3) and kind = 'transfer'
      returning ${PAYMENT_COLUMNS}`,
    values: [payment.workspaceId, payment.id, now, until],
    read: firstOrNull(PAYMENT_ROW, toPayment),
  }
}

/** Records, before a request is sent, when it expires by the enclave's clock. Returns null if our claim has ended. */
export function setRequestExpiry(payment: Payment, requestExpiresAt: Date): Query<Payment | null> {
  return {
    name: 'set_payment_request_expiry',
    text: `update payments set request_expires_at = $4
      where workspace_id = $1 and id = $2 and attempt = $3 and ${statusIs('pending')} and attempt_until is not null
      returning ${PAYMENT_COLUMNS}`,
    values: [payment.workspaceId, payment.id, payment.attempt, requestExpiresAt],
    read: firstOrNull(PAYMENT_ROW, toPayment),
  }
}

/**
 * Releases the attempt, so that the next one can begin. `mayArrive` means that the attempt's request may still arrive
 * at the enclave until it expires. The expiry is then recorded as the fence (`fencedUntil`). Without `mayArrive`, the
 * request was certainly not sent, or the enclave rejected it.
 */
export function releaseAttempt(
  payment: Payment,
  { mayArrive, reason, nextLookupAt }: { mayArrive: boolean; reason: PendingReason | null; nextLookupAt: Date },
): Query<boolean> {
  return {
    name: 'release_payment_attempt',
    text: `update payments set attempt_until = null, request_expires_at = null, pending_reason = $5, next_lookup_at = $6,
        fenced_until = case when $4 then greatest(fenced_until, request_expires_at, attempt_until)
          else fenced_until end
      where workspace_id = $1 and id = $2 and attempt = $3 and ${statusIs('pending')} and attempt_until is not null`,
    values: [payment.workspaceId, payment.id, payment.attempt, mayArrive, reason, nextLookupAt],
    read: changed,
  }
}

/**
 * Moves a payment, that is, makes one of the changes in `PAYMENT_MOVES`. No other function moves a payment, except that
 * `markAccepted` makes the change `accept` for several payments. Moves the payment only from the status in that
 * table, and only while the SQL condition `guard` is true. So if two processes try the same move, only one of them
 * succeeds. Returns the moved payment, or null if it was not moved. A payment that ends is queued for the transparency
 * log (D80).
 */
export function movePayment(
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
  const update = `update payments set status = '${to}', ${set}
      where workspace_id = $1 and id = $2 and ${statusIs(from)} and ${guard} returning ${PAYMENT_COLUMNS}`
  return {
    name,
    text: to === 'pending' ? update : endText(update),
    values: [payment.workspaceId, payment.id, ...values],
    read: firstOrNull(PAYMENT_ROW, toPayment),
  }
}

function endText(update: string): string {
  const ended = 'select workspace_id as log_id, id as subject, settled_at as at from moved'
  return `with moved as (${update}), queued as (${queueText('payment.ended', `(${ended}) ended`)})
      select ${PAYMENT_COLUMNS} from moved`
}

/** Records the transaction that contains the payment's transfer, even if a different hash was recorded before. */
export function replaceHash(
  payment: Payment,
  txHash: TxHash,
  { now, nextLookupAt, userOperationHash = null }: { now: Date; nextLookupAt: Date; userOperationHash?: TxHash | null },
): Query<Payment | null> {
  return movePayment(payment, {
    name: 'replace_payment_hash',
    move: 'accept',
    set: `tx_hash = $4, accepted_at = coalesce(accepted_at, $5), attempt_until = null, request_expires_at = null,
      mined_block = null, mined_block_hash = null, sender_nonce = null, pending_reason = null, next_lookup_at = $6,
      user_operation_hash = coalesce($7, user_operation_hash)`,
    guard: 'tx_hash is not distinct from $3',
    values: [payment.txHash, txHash, now, nextLookupAt, userOperationHash],
  })
}

/** Records a look-up that found no new hash. Does nothing if the payment has changed since the look-up began. */
export function recordLookup(payment: Payment, lookup: LookupResult): Query<Payment | null> {
  return movePayment(payment, {
    name: 'record_payment_lookup',
    move: 'note',
    set: `lookups = lookups + 1, pending_reason = $5, next_lookup_at = $6, searched_block = $7, sender_nonce = $8,
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

/** Records the block that contains the payment's transaction. `block` is null if no block contains it any more. */
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

/** The block that contains a payment's transaction, and what the wallet paid for its gas, if it paid any. */
export interface MinedBlock {
  readonly number: bigint
  readonly hash: string
  readonly gasWei?: bigint | null
}

/**
 * Moves the payment to `confirmed` by the Transfer log at `logIndex`. Fails with a violation of the unique index
 * `payments_one_per_transfer_log` if that log has settled another payment.
 */
export function markConfirmed(
  payment: Payment,
  { number, hash, logIndex, gasWei = null }: MinedBlock & { readonly logIndex: bigint },
  now: Date,
): Query<Payment | null> {
  return movePayment(payment, {
    name: 'mark_payment_confirmed',
    move: 'confirm',
    set: `mined_block = $4, mined_block_hash = $5, settled_at = $6, log_index = $7, pending_reason = null,
      gas_wei = $8::numeric`,
    guard: 'tx_hash = $3',
    values: [payment.txHash, number, hash, now, logIndex, gasWei],
  })
}

/**
 * Moves the payment to `failed`. Does nothing if its hash, the enclave's id or the attempt has changed since the caller
 * decided that the payment failed. `block` contains the transaction that failed; null if no block contains one.
 */
export function markFailed(
  payment: Payment,
  code: FailureCode,
  now: Date,
  block: MinedBlock | null = null,
): Query<Payment | null> {
  return movePayment(payment, {
    name: 'mark_payment_failed',
    move: 'fail',
    set: `failure_code = $5, settled_at = $6, attempt_until = null, request_expires_at = null, pending_reason = null,
      mined_block = coalesce($8::bigint, mined_block), mined_block_hash = coalesce($9, mined_block_hash),
      gas_wei = $10::numeric`,
    guard: 'tx_hash is not distinct from $3 and enclave_transaction_id is not distinct from $7 and attempt = $4',
    values: [
      ...[payment.txHash, payment.attempt, code, now, payment.enclaveTransactionId],
      ...[block?.number ?? null, block?.hash ?? null, block?.gasWei ?? null],
    ],
  })
}

/** The constraints of the table guarantee that a row has what its kind needs. */
export function toPayment(row: RowOf<typeof PAYMENT_ROW>): Payment {
  const shared = {
    id: row.id,
    workspaceId: row.workspace_id,
    mode: row.mode,
    walletAddress: row.wallet_address,
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
    lookups: row.lookups,
    minedBlock: toBigInt(row.mined_block),
    minedBlockHash: row.mined_block_hash,
    logIndex: toBigInt(row.log_index),
    gasWei: toBigInt(row.gas_wei),
    credentialId: row.credential_id,
    requestId: row.request_id,
    acceptedAt: row.accepted_at,
    settledAt: row.settled_at,
  }
  const { kind, agent_id: agentId, grant_id: grantId, authorization_nonce: nonce, valid_before: validBefore } = row
  if (kind === 'withdrawal') return { ...shared, kind, agentId: null, grantId: null, authorization: null }
  if (agentId === null || grantId === null) throw new Error(`the payment ${row.id} has no agent or no grant`)
  if (kind === 'transfer') return { ...shared, kind, agentId, grantId, authorization: null }
  if (nonce === null || validBefore === null) throw new Error(`the purchase ${row.id} has no authorization`)
  return { ...shared, kind, agentId, grantId, authorization: { nonce, validBefore } }
}

function toBigInt(value: string | null): bigint | null {
  return value === null ? null : BigInt(value)
}
