import { listOf, pick } from '../../db/column.ts'
import { all, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { PurchaseSummary } from './purchase-summary.ts'

const SUMMARY_ROW = pick(tables.purchases, 'payment_id', 'resource_url', 'host', 'delivery')

/** Lists what the payments with these ids buy. Payments that are no purchase are left out. Uses the primary key. */
export function listPurchaseSummaries(accountId: string, paymentIds: readonly string[]): Query<PurchaseSummary[]> {
  return {
    name: 'list_purchase_summaries',
    text: `select ${listOf(SUMMARY_ROW)} from purchases where account_id = $1 and payment_id = any($2)`,
    values: [accountId, paymentIds],
    read: all(SUMMARY_ROW, ({ payment_id, resource_url, host, delivery }) => {
      return { paymentId: payment_id, resourceUrl: resource_url, host, delivery }
    }),
  }
}
