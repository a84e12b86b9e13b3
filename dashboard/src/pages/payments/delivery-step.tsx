import type { PaymentDetail } from '@bursar/server/src/console/contract/payments.ts'
import { TimeText } from '../../components/time-text.tsx'
import { TimelineStep, type StepState } from '../../components/timeline.tsx'
import { Notice } from '../../components/notice.tsx'

/** Whether the seller delivered. This says nothing about the money, which only the blockchain decides. */
export function DeliveryStep({ detail }: { readonly detail: PaymentDetail }) {
  const { payment, purchase } = detail
  if (purchase === null || purchase.delivery === null) return null
  const { delivery, responded_at, response_status, attempts } = purchase
  const isPaid = payment.status === 'confirmed'
  const isPart = delivery === 'unknown' && responded_at !== null
  const state: StepState =
    delivery === 'delivered' ? 'done' : delivery === 'failed' || isPaid ? 'failed' : stateOf(payment)
  return (
    <TimelineStep
      state={state}
      title={titleOf(detail.payment, { delivery, isPart })}
      at={responded_at === null ? undefined : <TimeText at={responded_at} hasSeconds />}
    >
      <p>
        {attempts === 0
          ? 'The paid request was not sent to the seller.'
          : `The paid request was sent ${attempts === 1 ? 'once' : `${attempts} times, with the same signature`}. `}
        {response_status !== null && `The seller responded with the status ${response_status}.`}
        {isPart && ' Its response broke off, so only a part of it has arrived.'}
        {responded_at === null && attempts > 0 && 'No response has arrived.'}
      </p>
      {isPaid && delivery !== 'delivered' && (
        <Notice tone="warning">
          {delivery === 'failed' ? (
            <p>
              <strong>Paid, not delivered.</strong> The seller has the money, but responded with an error. For 24 hours,
              a request with the same idempotency key gets this response again, and pays nothing more. Contact the
              seller.
            </p>
          ) : (
            <p>
              <strong>{isPart ? 'Paid, not all delivered.' : 'Paid, no response.'}</strong> The seller has the money. As
              long as the signature is valid, the agent can repeat the request with the same idempotency key, which pays
              nothing more. After that, contact the seller.
            </p>
          )}
        </Notice>
      )}
    </TimelineStep>
  )
}

function titleOf(
  { status }: PaymentDetail['payment'],
  { delivery, isPart }: { readonly delivery: 'delivered' | 'failed' | 'unknown'; readonly isPart: boolean },
): string {
  if (delivery === 'delivered') return 'Delivered by the seller'
  if (delivery === 'failed') return 'Not delivered by the seller'
  if (isPart) return 'Partly delivered by the seller'
  return status === 'pending' ? 'Waiting for the seller’s response' : 'No response from the seller'
}

function stateOf({ status }: PaymentDetail['payment']): StepState {
  return status === 'failed' ? 'skipped' : 'current'
}
