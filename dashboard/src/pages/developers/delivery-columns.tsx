import type { Delivery } from '@bursar/server/src/console/contract/deliveries.ts'
import type { Webhook } from '@bursar/server/src/console/contract/webhooks.ts'
import type { Column } from '../../components/data-table.tsx'
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

/** The column with the URL of each delivery. The URL of a deleted endpoint is no longer known. */
export function endpointColumn(webhooks: readonly Webhook[], isSecondary = true): Column<Delivery> {
  const urls = new Map(webhooks.map(({ id, url }) => [id, url]))
  return {
    title: 'Endpoint',
    isSecondary,
    render: ({ webhook_id }) => (
      <span
        className="block max-w-72 truncate font-mono text-[0.8125rem] font-normal text-muted"
        title={urls.get(webhook_id)}
      >
        {urls.get(webhook_id) ?? 'Deleted endpoint'}
      </span>
    ),
  }
}
