import { computed, nullable, pick } from '../../db/column.ts'
import { all, changed, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Replacement } from '../../lib/sealing.ts'
import { giveBackText } from '../stored-bytes/stored-bytes-store.ts'
import type { PurchasePlace } from './purchases-store.ts'

const { purchases } = tables

/**
 * Lists purchases in the order of their primary keys. A secret is null if it begins with the mark of the newest key, or
 * if it is lost. A seller's response is not returned, because it may have more than 1 MiB and is deleted after 24 hours (D68).
 * `isResponseStale` says that there is one without the mark. Uses the primary key.
 */
export function pagePurchases(
  after: PurchasePlace,
  mark: Buffer,
  rowsMax: number,
): Query<(PurchasePlace & { order: Buffer | null; header: Buffer | null; isResponseStale: boolean })[]> {
  return {
    name: 'page_sealed_purchases',
    text: `select workspace_id, payment_id,
        case when order_sealed <> '' and substring(order_sealed for $4) <> $3 then order_sealed end as "order",
        case when substring(header_sealed for $4) <> $3 then header_sealed end as header,
        coalesce(substring(response_sealed for $4) <> $3, false) as is_response_stale
      from purchases where (workspace_id, payment_id) > ($1, $2) order by workspace_id, payment_id limit $5`,
    values: [after.workspaceId, after.paymentId, mark, mark.length, rowsMax],
    read: all(
      {
        ...pick(purchases, 'workspace_id', 'payment_id'),
        order: nullable(computed.bytea),
        header: nullable(computed.bytea),
        is_response_stale: computed.bool,
      },
      (row) => ({
        workspaceId: row.workspace_id,
        paymentId: row.payment_id,
        order: row.order,
        header: row.header,
        isResponseStale: row.is_response_stale,
      }),
    ),
  }
}

export function replacePurchaseSecrets(
  { workspaceId, paymentId }: PurchasePlace,
  order: Replacement,
  header: Replacement,
): Query<boolean> {
  return {
    name: 'replace_purchase_secrets',
    text: `update purchases set
        order_sealed = case when order_sealed = $3 then $4 else order_sealed end,
        header_sealed = case when header_sealed = $5 then $6 else header_sealed end
      where workspace_id = $1 and payment_id = $2`,
    values: [workspaceId, paymentId, order?.old, order?.new, header?.old, header?.new],
    read: changed,
  }
}

/**
 * Deletes the seller's response, which is lost, and gives back its room. If `isOrderLost`, the order and the payment
 * header are deleted too: nothing is signed or sent for this purchase any more. Uses primary keys.
 */
export function retirePurchase({ workspaceId, paymentId }: PurchasePlace, isOrderLost: boolean): Query<boolean> {
  return {
    name: 'retire_purchase',
    text: `with held as (
        select workspace_id, payment_id, kept_bytes + reserved_bytes as bytes from purchases
        where workspace_id = $1 and payment_id = $2 for no key update
      ), retired as (
        update purchases p set response_sealed = null, kept_bytes = 0, reserved_bytes = 0,
          order_sealed = case when $3 then '' else p.order_sealed end,
          header_sealed = case when $3 then null else p.header_sealed end
        from held h where p.workspace_id = h.workspace_id and p.payment_id = h.payment_id
        returning p.workspace_id, p.mode, h.bytes
      ), ${giveBackText('answers', 'retired')}
      select from retired`,
    values: [workspaceId, paymentId, isOrderLost],
    read: changed,
  }
}
