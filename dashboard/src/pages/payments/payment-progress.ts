import type { PaymentDetail } from '../../api/wire-spending.ts'
import type { StepState } from '../../components/timeline.tsx'

export interface Progress {
  readonly signed: StepState
  readonly seen: StepState
  readonly settled: StepState
}

type Facts = Pick<PaymentDetail['payment'], 'status' | 'failure_code' | 'tx_hash' | 'accepted_at' | 'block_number'>

/** How far a payment is on its way: signed by the enclave, in a block of the chain, confirmed. */
export function progressOf(payment: Facts): Progress {
  const { status, failure_code, tx_hash, accepted_at, block_number } = payment
  // Rows from before the time of acceptance was kept have a hash, or were settled by the chain.
  const isSigned = accepted_at !== null || tx_hash !== null || status === 'confirmed'
  const isSeen = block_number !== null || status === 'confirmed'
  if (status === 'failed') {
    if (failure_code === 'enclave_refused' || failure_code === 'never_received') {
      return { signed: 'failed', seen: 'skipped', settled: 'skipped' }
    }
    if (failure_code === 'never_mined' || failure_code === 'replaced') {
      return { signed: 'done', seen: 'failed', settled: 'skipped' }
    }
    return { signed: 'done', seen: 'done', settled: 'failed' }
  }
  if (!isSigned) return { signed: 'current', seen: 'ahead', settled: 'ahead' }
  if (!isSeen) return { signed: 'done', seen: 'current', settled: 'ahead' }
  return { signed: 'done', seen: 'done', settled: status === 'confirmed' ? 'done' : 'current' }
}

/** How far the news of a payment is: who wanted it was told, or is still to be. */
export function webhookProgress({ payment, events }: Pick<PaymentDetail, 'payment' | 'events'>): StepState {
  const deliveries = events.flatMap((event) => event.deliveries)
  if (deliveries.some(({ status }) => status === 'failed')) return 'failed'
  if (deliveries.some(({ status }) => status === 'pending')) return 'current'
  if (payment.status === 'pending') return 'ahead'
  return deliveries.length === 0 ? 'skipped' : 'done'
}
