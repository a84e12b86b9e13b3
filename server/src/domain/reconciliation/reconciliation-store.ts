import { pick } from '../../db/column.ts'
import { all, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { WaitKey } from '../../lib/shared-poll.ts'
import type { Mode } from '../../values/mode.ts'
import type { Payment } from '../payments/payment.ts'
import { PAYMENT_COLUMNS, PAYMENT_ROW, toPayment } from '../payments/payments-store.ts'

/**
 * Lists the pending payments that are due for a look-up, longest due first. Leaves out payments that a process is
 * sending right now. Also leaves out purchases, because only the chain decides about them. Uses the index
 * `payments_to_reconcile`.
 */
export function listDueForLookup(mode: Mode, now: Date, limit: number): Query<Payment[]> {
  return {
    name: 'list_payments_due_for_lookup',
    text: `select ${PAYMENT_COLUMNS} from payments
      where mode = $1 and status = 'pending' and kind <> 'x402' and next_lookup_at <= $2
        and (attempt_until is null or attempt_until <= $2)
      order by next_lookup_at, id limit $3`,
    values: [mode, now, limit],
    read: all(PAYMENT_ROW, toPayment),
  }
}

/**
 * Lists one page of the pending payments that have a transaction hash and were created after `since`, oldest first.
 * Leaves out purchases, whose authorizations are watched instead. Uses the index `payments_awaiting_chain`. The
 * conditions with `<>` mean the same as `status = 'pending'`. With `=`, the planner could choose to read and sort all
 * of another index, `payments_to_reconcile`.
 */
export function listAwaitingChain(
  mode: Mode,
  { since, after, limit }: { since: Date; after: Payment | null; limit: number },
): Query<Payment[]> {
  return {
    name: 'list_payments_awaiting_chain',
    text: `select ${PAYMENT_COLUMNS} from payments
      where mode = $1 and status <> 'confirmed' and status <> 'failed' and tx_hash is not null
        and kind <> 'x402' and (created_at, id) > ($2, $3)
      order by created_at, id limit $4`,
    values: [mode, after?.createdAt ?? since, after?.id ?? '', limit],
    read: all(PAYMENT_ROW, toPayment),
  }
}

/**
 * Returns those of the keys whose payment is settled. In each key, `group` is the workspace and `id` the payment. The
 * `limit` makes PostgreSQL look up one payment at a time, by the primary key.
 */
export function listSettled(keys: readonly WaitKey[]): Query<WaitKey[]> {
  return {
    name: 'list_settled_payments',
    text: `select p.workspace_id, p.id from unnest($1::text[], $2::text[]) as wanted (workspace_id, id)
      cross join lateral (
        select workspace_id, id from payments
        where workspace_id = wanted.workspace_id and id = wanted.id and settled_at is not null limit 1
      ) p`,
    values: [keys.map(({ group }) => group), keys.map(({ id }) => id)],
    read: all(pick(tables.payments, 'workspace_id', 'id'), (row) => ({ group: row.workspace_id, id: row.id })),
  }
}
