import type { Delivery } from '@bursar/server/src/console/contract/deliveries.ts'
import type { Webhook } from '@bursar/server/src/console/contract/webhooks.ts'
import { StatusBadge, type Tone } from '../../components/status-badge.tsx'

/** Whether an endpoint is enabled, disabled or failing. */
export function WebhookStatus({ webhook }: { readonly webhook: Webhook }) {
  if (webhook.status === 'disabled') {
    return <StatusBadge tone={webhook.disabled_because === 'owner' ? 'neutral' : 'danger'}>Disabled</StatusBadge>
  }
  return webhook.failing_since === null ? (
    <StatusBadge tone="success">Enabled</StatusBadge>
  ) : (
    <StatusBadge tone="warning">Failing</StatusBadge>
  )
}

const DELIVERY_BADGES: Readonly<Record<Delivery['status'], readonly [Tone, string]>> = {
  pending: ['neutral', 'Pending'],
  succeeded: ['success', 'Delivered'],
  failed: ['danger', 'Failed'],
  canceled: ['neutral', 'Canceled'],
}

/** The label of a pending delivery with at least one failed attempt. */
const RETRYING = 'Retrying'

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed', 'canceled'] as const

/** The status of a delivery. */
export function DeliveryStatus({ delivery }: { readonly delivery: Delivery }) {
  const { status, attempt_count } = delivery
  if (status === 'pending' && attempt_count > 0) return <StatusBadge tone="warning">{RETRYING}</StatusBadge>
  const [tone, text] = DELIVERY_BADGES[status]
  return <StatusBadge tone={tone}>{text}</StatusBadge>
}

/** The label of a status in the filter. The server's status `pending` includes deliveries that are being retried. */
export function formatDeliveryStatus(status: Delivery['status']): string {
  const [, text] = DELIVERY_BADGES[status]
  return status === 'pending' ? `${text} or ${RETRYING.toLowerCase()}` : text
}
