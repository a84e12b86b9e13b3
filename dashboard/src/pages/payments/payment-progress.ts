import type { PaymentDetail } from '@bursar/server/src/console/contract/payments.ts'
import type { StepState } from '../../components/timeline.tsx'

export interface Progress {
  readonly signed: StepState
  readonly seen: StepState
  readonly settled: StepState
}

type PaymentState = Pick<
  PaymentDetail['payment'],
  'status' | 'failure_code' | 'tx_hash' | 'accepted_at' | 'block_number'
>

/** The reasons for which a signed payment is never included in a block. */
const ENDED_UNSEEN: readonly string[] = ['replaced', 'authorization_expired', 'authorization_canceled']

/** The states of a payment's timeline steps: signed by the enclave, included in a block, confirmed. */
export function progressOf(payment: PaymentState): Progress {
  const { status, failure_code, tx_hash, accepted_at, block_number } = payment
  // A purchase has no `accepted_at`. It is signed at the latest when it has a transaction hash.
  const isSigned = accepted_at !== null || tx_hash !== null
  const isSeen = block_number !== null || status === 'confirmed'
  if (status === 'failed') {
    if (failure_code === 'enclave_refused' || failure_code === 'never_received') {
      return { signed: 'failed', seen: 'skipped', settled: 'skipped' }
    }
    if (failure_code !== null && ENDED_UNSEEN.includes(failure_code)) {
      return { signed: 'done', seen: 'failed', settled: 'skipped' }
    }
    return { signed: 'done', seen: 'done', settled: 'failed' }
  }
  if (!isSigned) return { signed: 'current', seen: 'upcoming', settled: 'upcoming' }
  if (!isSeen) return { signed: 'done', seen: 'current', settled: 'upcoming' }
  return { signed: 'done', seen: 'done', settled: status === 'confirmed' ? 'done' : 'current' }
}

/** The state of the timeline step for the webhook deliveries of a payment. */
export function webhookProgress({ payment, events }: Pick<PaymentDetail, 'payment' | 'events'>): StepState {
  const deliveries = events.flatMap((event) => event.deliveries)
  if (deliveries.some(({ status }) => status === 'failed')) return 'failed'
  if (deliveries.some(({ status }) => status === 'pending')) return 'current'
  if (payment.status === 'pending') return 'upcoming'
  return deliveries.length === 0 ? 'skipped' : 'done'
}
