import type { Delivery, ListedDelivery } from '@bursar/server/src/console/contract/deliveries.ts'
import type { Webhook } from '@bursar/server/src/console/contract/webhooks.ts'
import type { Column } from '../../components/data-table.tsx'
import { AmountText } from '../../components/amount-text.tsx'
import { formatLastAttempt } from '../../format/webhook-text.ts'
import { TimeText } from '../../components/time-text.tsx'
import { DeliveryStatus } from './webhook-status.tsx'

/** The columns of a list of deliveries. */
export const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  { title: 'Event', render: ({ event_type }) => <span className="font-mono text-[0.875rem]">{event_type}</span> },
  { title: 'Status', render: (delivery) => <DeliveryStatus delivery={delivery} /> },
  {
    title: 'Attempts',
    render: ({ attempt_count, trigger }) => (
      <span className="text-sm text-muted tabular-nums">
        {attempt_count === 1 ? '1 attempt' : `${attempt_count} attempts`}
        {trigger !== 'event' && ` · ${trigger}`}
      </span>
    ),
  },
  {
    title: 'Created',
    render: ({ created_at }) => (
      <span className="text-sm text-muted">
        <TimeText at={created_at} isRelative />
      </span>
    ),
  },
]

/** The columns of the log, which also says what each event is about and how the receiver responded. */
export const LOG_COLUMNS: readonly Column<ListedDelivery>[] = [
  ...DELIVERY_COLUMNS.slice(0, 1),
  {
    title: 'Payment',
    render: ({ payment }) =>
      payment === null ? (
        <span className="text-muted">–</span>
      ) : (
        <span title={payment.id}>
          <AmountText usdc={payment.amount_usdc} />
        </span>
      ),
  },
  ...DELIVERY_COLUMNS.slice(1, 2),
  {
    title: 'Response',
    render: (delivery) => <span className="text-sm tabular-nums">{formatLastAttempt(delivery)}</span>,
  },
  ...DELIVERY_COLUMNS.slice(2),
]

/** The column with the URL of each delivery. The URL of a deleted endpoint is no longer known. */
export function endpointColumn(webhooks: readonly Webhook[], isSecondary = true): Column<Delivery> {
  const urls = new Map(webhooks.map(({ id, url }) => [id, url]))
  return {
    title: 'Endpoint',
    isSecondary,
    isLong: true,
    width: 'md:w-1/5',
    render: ({ webhook_id }) => (
      <span className="block truncate font-mono text-[0.8125rem] font-normal text-muted" title={urls.get(webhook_id)}>
        {urls.get(webhook_id) ?? 'Deleted endpoint'}
      </span>
    ),
  }
}
