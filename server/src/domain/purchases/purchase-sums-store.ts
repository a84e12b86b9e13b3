import { textOfMode } from '../../db/bounded-scan-query.ts'
import { computed } from '../../db/column.ts'
import { one, type Query } from '../../db/query.ts'
import type { Mode } from '../../values/mode.ts'

const undeliveredText = textOfMode(
  'count_undelivered_purchases',
  (mode) => `select count(*) as undelivered from (
      select payment_id, delivery from purchases
      where workspace_id = $1 and mode = ${mode} and delivery in ('failed', 'unknown') and resolved_at is null
        and payment_id >= $2
      order by payment_id desc limit $3
    ) newest
    cross join lateral (
      select status, valid_before from payments where workspace_id = $1 and id = newest.payment_id offset 0
    ) p
    where p.status = 'confirmed' and (newest.delivery = 'failed' or p.valid_before <= $4)`,
)

/**
 * Counts the purchases that are paid, not delivered at the time `now` (D70a) and not resolved, and whose ids are `from` or higher.
 * Reads at most `rowsMax` purchases without delivery, the newest first, whether they were paid or not. Uses
 * `purchases_undelivered`, and the primary key of the payments.
 */
export function countUndelivered(
  { workspaceId, mode }: { readonly workspaceId: string; readonly mode: Mode },
  { from, rowsMax, now }: { readonly from: string; readonly rowsMax: number; readonly now: Date },
): Query<number> {
  return {
    ...undeliveredText(mode),
    values: [workspaceId, from, rowsMax, now],
    read: one({ undelivered: computed.int8 }, (row) => Number(row.undelivered)),
  }
}
