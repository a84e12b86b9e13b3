import { nullableAll, required, type RowOf } from '../../../db/column.ts'
import { firstOrNull, foundRow, rowsOf, type Query } from '../../../db/query.ts'
import { tables } from '../../../db/tables.ts'
import type { Mode } from '../../../values/mode.ts'
import { microUsdc } from '../../../values/money.ts'
import { DELIVERY_COLUMNS, DELIVERY_ROW, toDelivery } from '../../webhooks/deliveries-store.ts'
import type { Admission } from '../../payments/payment.ts'
import type { PaymentEvent, SentDelivery } from './timeline.ts'

const { events, payments, webhook_endpoints: endpoints } = tables

const SENT_ROW = { ...DELIVERY_ROW, url: endpoints.url }

const EVENT_ROW = {
  told_id: events.id,
  told_type: events.type,
  told_at: events.created_at,
  ...nullableAll(SENT_ROW),
}

const ADMISSION_ROW = {
  max_per_tx_micro: required(payments.max_per_tx_micro),
  daily_cap_micro: required(payments.daily_cap_micro),
  spent_24h_micro: required(payments.spent_24h_micro),
}

/**
 * Finds the limits that were stored with a payment when it was reserved. Null if no limits were checked. Uses the primary key.
 */
export function findAdmission(workspaceId: string, id: string): Query<Admission | null> {
  return {
    name: 'find_payment_admission',
    text: `select max_per_tx_micro, daily_cap_micro, spent_24h_micro from payments
      where workspace_id = $1 and id = $2 and max_per_tx_micro is not null`,
    values: [workspaceId, id],
    read: firstOrNull(ADMISSION_ROW, (row) => ({
      maxPerTxMicro: microUsdc(BigInt(row.max_per_tx_micro)),
      dailyCapMicro: microUsdc(BigInt(row.daily_cap_micro)),
      spent24hMicro: microUsdc(BigInt(row.spent_24h_micro)),
    })),
  }
}

/**
 * An event to look for: its type and the range of ids that it can have. `from` is part of the range, `below` is not.
 */
export interface EventPlace {
  readonly type: string
  readonly from: string
  readonly below: string
}

/**
 * Lists a payment's events, oldest first. Each event comes with its oldest deliveries, at most `deliveriesMax` of them.
 * Each event is searched only in the range of ids where it must be, so few rows are read. Uses `events_by_type`,
 * `deliveries_of_event` and primary keys.
 */
export function listPaymentEvents(
  payment: { readonly workspaceId: string; readonly mode: Mode; readonly id: string },
  places: readonly EventPlace[],
  deliveriesMax: number,
): Query<PaymentEvent[]> {
  return {
    name: 'list_payment_events',
    text: `select e.id as told_id, e.type as told_type, e.created_at as told_at, d.*, w.url
      from unnest($4::text[], $5::text[], $6::text[]) as place (type, from_id, below_id)
      cross join lateral (
        select workspace_id, id, type, created_at from events
        where workspace_id = $1 and mode = $2 and type = place.type and id >= place.from_id and id < place.below_id
          and data -> 'payment' ->> 'id' = $3
      ) e
      left join lateral (
        select ${DELIVERY_COLUMNS} from deliveries where workspace_id = $1 and event_id = e.id order by id limit $7
      ) d on true
      left join webhook_endpoints w on w.workspace_id = $1 and w.id = d.endpoint_id
      order by e.id, d.created_at, d.id`,
    values: [
      payment.workspaceId,
      payment.mode,
      payment.id,
      places.map(({ type }) => type),
      places.map(({ from }) => from),
      places.map(({ below }) => below),
      deliveriesMax,
    ],
    read: rowsOf(EVENT_ROW, toEvents),
  }
}

function toEvents(rows: readonly RowOf<typeof EVENT_ROW>[]): PaymentEvent[] {
  type Filling = Omit<PaymentEvent, 'deliveries'> & { readonly deliveries: SentDelivery[] }
  const events = new Map<string, Filling>()
  for (const row of rows) {
    const id = row.told_id
    const event: Filling = events.get(id) ?? { id, type: row.told_type, createdAt: row.told_at, deliveries: [] }
    events.set(id, event)
    // An event without deliveries has one row, and all delivery columns of that row are null.
    if (row.id === null) continue
    const sent = foundRow(SENT_ROW, row)
    event.deliveries.push({ delivery: toDelivery(sent), url: sent.url })
  }
  return [...events.values()]
}
