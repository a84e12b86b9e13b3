import type { PaymentStatus } from '@bursar/server/src/console/contract/payments.ts'
import { StatusBadge, type Tone } from '../../components/status-badge.tsx'

const BADGES: Readonly<Record<PaymentStatus, { readonly tone: Tone; readonly text: string }>> = {
  pending: { tone: 'neutral', text: 'Pending' },
  confirmed: { tone: 'success', text: 'Confirmed' },
  failed: { tone: 'danger', text: 'Failed' },
}

/** The status of a payment. */
export function PaymentBadge({ status }: { readonly status: PaymentStatus }) {
  const { tone, text } = BADGES[status]
  return <StatusBadge tone={tone}>{text}</StatusBadge>
}
