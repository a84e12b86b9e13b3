import type { Delivery, Webhook } from '../../api/wire-developers.ts'
import { StatusBadge, type Tone } from '../../components/status-badge.tsx'

/** Whether anything is sent to an endpoint, and whether it arrives. */
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
  pending: ['neutral', 'On its way'],
  succeeded: ['success', 'Delivered'],
  failed: ['danger', 'Given up'],
  canceled: ['neutral', 'Canceled'],
}

/** One that was tried already has failed so far. */
const WILL_TRY_AGAIN = 'Will try again'

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed', 'canceled'] as const

/** How a delivery stands. */
export function DeliveryStatus({ delivery }: { readonly delivery: Delivery }) {
  const { status, attempt_count } = delivery
  if (status === 'pending' && attempt_count > 0) return <StatusBadge tone="warning">{WILL_TRY_AGAIN}</StatusBadge>
  const [tone, text] = DELIVERY_BADGES[status]
  return <StatusBadge tone={tone}>{text}</StatusBadge>
}

/** The same words, for choosing by what is kept: it makes no difference between a first attempt and the next. */
export function formatDeliveryStatus(status: Delivery['status']): string {
  const [, text] = DELIVERY_BADGES[status]
  return status === 'pending' ? `${text}, or ${WILL_TRY_AGAIN.toLowerCase()}` : text
}
