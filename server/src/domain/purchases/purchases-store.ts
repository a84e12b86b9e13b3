import { listOf, pick, type RowOf } from '../../db/column.ts'
import { all, changed, countChanged, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import { giveBackText } from '../stored-bytes/stored-bytes-store.ts'
import type { FirstAnswer } from '../transparency-log/leaf.ts'
import { queueText } from '../transparency-log/transparency-log-store.ts'
import type { GoodsDelivery, Purchase } from './purchase.ts'

const { purchases } = tables

/** The columns that are not sealed. A stored response has up to 1 MiB, so lists do not read it. */
const OPEN_ROW = {
  ...pick(purchases, 'workspace_id', 'mode', 'payment_id', 'protocol', 'resource_url', 'host', 'method', 'description'),
  ...pick(purchases, 'delivery', 'attempts', 'response_status', 'responded_at', 'created_at'),
}

const PURCHASE_ROW = { ...OPEN_ROW, ...pick(purchases, 'order_sealed', 'header_sealed', 'response_sealed') }

const COLUMNS = listOf(PURCHASE_ROW)

/** A purchase with its sealed values. Only `seal-purchase.ts` opens them. */
export interface SealedPurchase extends Purchase {
  /** Empty if the key that encrypted it is lost. */
  readonly orderSealed: Buffer
  /** Null until the enclave has signed. */
  readonly headerSealed: Buffer | null
  /** Null before the seller has responded, and again 24 hours after the response (D68). */
  readonly responseSealed: Buffer | null
}

/** Identifies a purchase. A purchase has the id of its payment. */
export interface PurchasePlace {
  readonly workspaceId: string
  readonly paymentId: string
}

/**
 * Inserts a purchase. Unless `workedUntil` is null, claims it until then for the process that has made it.
 * `reservedBytes` is the room that the same transaction reserves for the seller's response.
 */
export function insertPurchase(
  purchase: SealedPurchase,
  {
    requestHash,
    workedUntil,
    reservedBytes,
  }: { readonly requestHash: Buffer; readonly workedUntil: Date | null; readonly reservedBytes: number },
): Query<boolean> {
  return {
    name: 'insert_purchase',
    text: `insert into purchases (workspace_id, mode, payment_id, protocol, resource_url, host, method, description,
        order_sealed, delivery, created_at, request_hash, worked_until, reserved_bytes)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    values: [
      purchase.workspaceId,
      purchase.mode,
      purchase.paymentId,
      purchase.protocol,
      purchase.resourceUrl,
      purchase.host,
      purchase.method,
      purchase.description,
      purchase.orderSealed,
      purchase.delivery,
      purchase.createdAt,
      requestHash,
      workedUntil,
      reservedBytes,
    ],
    read: changed,
  }
}

/** Finds a purchase by the id of its payment. Uses the primary key. */
export function findPurchase({ workspaceId, paymentId }: PurchasePlace): Query<SealedPurchase | null> {
  return {
    name: 'find_purchase',
    text: `select ${COLUMNS} from purchases where workspace_id = $1 and payment_id = $2`,
    values: [workspaceId, paymentId],
    read: firstOrNull(PURCHASE_ROW, toPurchase),
  }
}

/** Lists the purchases of these payments. Payments that are no purchase are left out. Uses the primary key. */
export function listPurchasesOf(workspaceId: string, paymentIds: readonly string[]): Query<Purchase[]> {
  return {
    name: 'list_purchases_of',
    text: `select ${listOf(OPEN_ROW)} from purchases where workspace_id = $1 and payment_id = any ($2::text[])`,
    values: [workspaceId, paymentIds],
    read: all(OPEN_ROW, toOpenPurchase),
  }
}

/**
 * Claims the work on a purchase that has no answer yet, or only a part of one. Returns the purchase, or null if another
 * process works on it or an answer has arrived. Uses the primary key.
 */
export function claimPurchase(
  { workspaceId, paymentId }: PurchasePlace,
  now: Date,
  until: Date,
): Query<SealedPurchase | null> {
  return {
    name: 'claim_purchase',
    text: `update purchases set worked_until = $4
      where workspace_id = $1 and payment_id = $2 and (responded_at is null or delivery = 'unknown')
        and (worked_until is null or worked_until <= $3)
      returning ${COLUMNS}`,
    values: [workspaceId, paymentId, now, until],
    read: firstOrNull(PURCHASE_ROW, toPurchase),
  }
}

/**
 * Moves the end of a claim, or ends the claim if `until` is null. Does nothing if the claim is not ours any more.
 * Uses the primary key.
 */
export function moveClaim({ workspaceId, paymentId }: PurchasePlace, known: Date, until: Date | null): Query<boolean> {
  return {
    name: 'move_purchase_claim',
    text: `update purchases set worked_until = $4
      where workspace_id = $1 and payment_id = $2 and worked_until = $3`,
    values: [workspaceId, paymentId, known, until],
    read: changed,
  }
}

/**
 * Stores the payment header, unless there is one already. Returns the stored purchase. Only a stored header ever
 * leaves the service. Uses the primary key.
 */
export function storeHeader(
  { workspaceId, paymentId }: PurchasePlace,
  headerSealed: Buffer,
): Query<SealedPurchase | null> {
  return {
    name: 'store_purchase_header',
    text: `update purchases set header_sealed = coalesce(header_sealed, $3)
      where workspace_id = $1 and payment_id = $2 returning ${COLUMNS}`,
    values: [workspaceId, paymentId, headerSealed],
    read: firstOrNull(PURCHASE_ROW, toPurchase),
  }
}

/** Counts one more request that pays, before it is sent. Uses the primary key. */
export function countPaidRequest({ workspaceId, paymentId }: PurchasePlace): Query<boolean> {
  return {
    name: 'count_paid_request',
    text: 'update purchases set attempts = attempts + 1 where workspace_id = $1 and payment_id = $2',
    values: [workspaceId, paymentId],
    read: changed,
  }
}

export interface StoredAnswer {
  readonly delivery: GoodsDelivery
  readonly status: number | null
  readonly sealed: Buffer
  readonly now: Date
  /** What the transparency log says about the response, if it is the first one that arrived completely. */
  readonly firstAnswer: FirstAnswer
}

/** Orders answers by what they bring: a part of a failure, a failure, a part of the goods, all of the goods. */
function rankOf(delivery: string, status: string): string {
  return `case ${delivery} when 'delivered' then 3 when 'failed' then 1
    else case when ${status} between 200 and 299 then 2 else 0 end end`
}

/**
 * Stores the seller's response, or the part of it that arrived. More than one response can arrive: the header is sent
 * again if a response broke off, and also by a second process if the first one was slow. A later response replaces the
 * earlier one only if it brings more. Returns whether it was stored.
 *
 * What the response does not need of the room that is reserved for it is given back in the same statement. After a part
 * of a response, all of the room stays reserved, because the rest may still come. The response is stored even if no room
 * is reserved for it.
 *
 * The first response that arrived completely is queued for the transparency log (D80). Uses primary keys.
 */
export function storeAnswer(
  { workspaceId, paymentId }: PurchasePlace,
  { delivery, status, sealed, now, firstAnswer }: StoredAnswer,
): Query<boolean> {
  const answered = 'select workspace_id as log_id, payment_id as subject, responded_at as at from stored where is_first'
  return {
    name: 'store_purchase_answer',
    text: `with held as (
        select kept_bytes + reserved_bytes as bytes,
          $3 <> 'unknown' and (responded_at is null or delivery = 'unknown') as is_first
        from purchases where workspace_id = $1 and payment_id = $2 for no key update
      ), stored as (
        update purchases set delivery = $3, response_status = $4, response_sealed = $5, responded_at = $6,
          kept_bytes = least(octet_length($5::bytea), held.bytes),
          first_answer = case when held.is_first then $7::json else first_answer end,
          reserved_bytes = case when $3 = 'unknown' then greatest(held.bytes - octet_length($5::bytea), 0) else 0 end
        from held
        where workspace_id = $1 and payment_id = $2
          and (responded_at is null or ${rankOf('$3', '$4')} > ${rankOf('delivery', 'response_status')}
            or ($3 = 'unknown' and ${rankOf('$3', '$4')} = ${rankOf('delivery', 'response_status')}
              and octet_length($5::bytea) > octet_length(response_sealed)))
        returning workspace_id, payment_id, responded_at, is_first, mode, held.bytes - kept_bytes - reserved_bytes as bytes
      ), queued as (${queueText('purchase.answered', `(${answered}) answered`)}),
      ${giveBackText('answers', 'stored')}
      select from stored`,
    values: [workspaceId, paymentId, delivery, status, sealed, now, JSON.stringify(firstAnswer)],
    read: changed,
  }
}

/**
 * Deletes the stored responses that arrived before this time, and gives back their room. Uses the index
 * `purchases_kept` and primary keys.
 */
export function deleteKeptAnswers(before: Date, rowsMax: number): Query<number> {
  return {
    name: 'delete_kept_answers',
    text: `with ended as (
        select workspace_id, payment_id, kept_bytes + reserved_bytes as bytes from purchases
        where response_sealed is not null and responded_at <= $1
        order by responded_at limit $2 for update skip locked
      ), deleted as (
        update purchases p set response_sealed = null, kept_bytes = 0, reserved_bytes = 0 from ended e
        where p.workspace_id = e.workspace_id and p.payment_id = e.payment_id
        returning p.workspace_id, p.mode, e.bytes
      ), ${giveBackText('answers', 'deleted')}
      select from deleted`,
    values: [before, rowsMax],
    read: countChanged,
  }
}

/**
 * Gives back the room that is reserved for the responses to purchases that were made before this time, and that have
 * not arrived. Uses the index `purchases_reserving` and primary keys.
 */
export function giveBackReservedBytes(before: Date, rowsMax: number): Query<number> {
  return {
    name: 'give_back_reserved_bytes',
    text: `with ended as (
        select workspace_id, payment_id, reserved_bytes as bytes from purchases
        where reserved_bytes > 0 and created_at <= $1
        order by created_at limit $2 for update skip locked
      ), freed as (
        update purchases p set reserved_bytes = 0 from ended e
        where p.workspace_id = e.workspace_id and p.payment_id = e.payment_id
        returning p.workspace_id, p.mode, e.bytes
      ), ${giveBackText('answers', 'freed')}
      select from freed`,
    values: [before, rowsMax],
    read: countChanged,
  }
}

function toOpenPurchase(row: RowOf<typeof OPEN_ROW>): Purchase {
  return {
    workspaceId: row.workspace_id,
    mode: row.mode,
    paymentId: row.payment_id,
    protocol: row.protocol,
    resourceUrl: row.resource_url,
    host: row.host,
    method: row.method,
    description: row.description,
    delivery: row.delivery,
    attempts: row.attempts,
    responseStatus: row.response_status,
    respondedAt: row.responded_at,
    createdAt: row.created_at,
  }
}

function toPurchase(row: RowOf<typeof PURCHASE_ROW>): SealedPurchase {
  return {
    ...toOpenPurchase(row),
    orderSealed: row.order_sealed,
    headerSealed: row.header_sealed,
    responseSealed: row.response_sealed,
  }
}
