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
  const state: StepState =
    delivery === 'delivered' ? 'done' : delivery === 'failed' || isPaid ? 'failed' : stateOf(payment)
  return (
    <TimelineStep
      state={state}
      title={delivery === 'delivered' ? 'Delivered by the seller' : 'Not delivered by the seller'}
      at={responded_at === null ? undefined : <TimeText at={responded_at} hasSeconds />}
    >
      <p>
        {attempts === 0
          ? 'The paid request was not sent to the seller.'
          : `The paid request was sent ${attempts === 1 ? 'once' : `${attempts} times`}, with the same signature. `}
        {response_status !== null && `The seller answered with the status ${response_status}.`}
        {response_status === null && attempts > 0 && 'No answer has arrived.'}
      </p>
      {isPaid && delivery !== 'delivered' && (
        <Notice tone="warning">
          <p>
            <strong>Paid, not delivered.</strong> The seller has the money. The agent can ask for the answer again with
            the same idempotency key, which pays nothing, as long as the signature is valid. After that, contact the
            seller.
          </p>
        </Notice>
      )}
    </TimelineStep>
  )
}

function stateOf({ status }: PaymentDetail['payment']): StepState {
  return status === 'failed' ? 'skipped' : 'current'
}
