import { computed, narrow, nullable, type RowOf } from '../../db/column.ts'
import { all, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { AttemptError, Delivery } from './delivery.ts'

const { delivery_attempts: attempts } = tables

/** What a list says about a delivery beside the delivery itself. */
export interface DeliverySummary {
  readonly deliveryId: string
  /** The result of the last attempt. Null before the first attempt. */
  readonly lastAttempt: { readonly statusCode: number | null; readonly error: AttemptError | null } | null
  /** The payment that the event is about. Null for other events, and if the event is older than 30 days. */
  readonly payment: { readonly id: string; readonly amountUsdc: string } | null
}

const SUMMARY_ROW = {
  delivery_id: computed.text,
  number: nullable(attempts.number),
  status_code: nullable(attempts.status_code),
  error: nullable(narrow<AttemptError>(attempts.error)),
  payment_id: nullable(computed.text),
  amount_usdc: nullable(computed.text),
}

/** Describes deliveries. Uses primary keys; `offset 0` forces the planner to use them. */
export function listDeliverySummaries(
  workspaceId: string,
  deliveries: readonly Pick<Delivery, 'id' | 'attempts' | 'eventId'>[],
): Query<DeliverySummary[]> {
  return {
    name: 'list_delivery_summaries',
    text: `select w.delivery_id, a.number, a.status_code, a.error, e.payment_id, e.amount_usdc
      from unnest($2::text[], $3::int4[], $4::text[]) as w (delivery_id, number, event_id)
      left join lateral (
        select number, status_code, error from delivery_attempts
        where workspace_id = $1 and delivery_id = w.delivery_id and number = w.number offset 0) a on true
      left join lateral (
        select data->'payment'->>'id' as payment_id, data->'payment'->>'amount_usdc' as amount_usdc from events
        where workspace_id = $1 and id = w.event_id offset 0) e on true`,
    values: [
      workspaceId,
      deliveries.map(({ id }) => id),
      deliveries.map(({ attempts: number }) => number),
      deliveries.map(({ eventId }) => eventId),
    ],
    read: all(SUMMARY_ROW, toSummary),
  }
}

function toSummary(row: RowOf<typeof SUMMARY_ROW>): DeliverySummary {
  const { payment_id: id, amount_usdc: amountUsdc } = row
  return {
    deliveryId: row.delivery_id,
    lastAttempt: row.number === null ? null : { statusCode: row.status_code, error: row.error },
    payment: id === null || amountUsdc === null ? null : { id, amountUsdc },
  }
}
