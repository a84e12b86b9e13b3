import { useQueryClient } from '@tanstack/react-query'
import type { PaymentDetail } from '@bursar/server/src/console/contract/payments.ts'
import { RESOLUTION_CHARS_MAX } from '@bursar/server/src/values/limits.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { liveKey } from '../../api/query-key.ts'
import { request } from '../../api/request.ts'
import { Button } from '../../components/button.tsx'
import { NameDialog } from '../../components/name-dialog.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { TimelineStep, type StepState } from '../../components/timeline.tsx'
import { Notice } from '../../components/notice.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** Whether the seller delivered. This says nothing about the money, which only the blockchain decides. */
export function DeliveryStep({ detail }: { readonly detail: PaymentDetail }) {
  const { payment, purchase, resolution } = detail
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
      {resolution !== null && <ResolutionText resolution={resolution} />}
      {isPaid && delivery !== 'delivered' && resolution === null && (
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
          <ResolutionForm payment={payment} />
        </Notice>
      )}
    </TimelineStep>
  )
}

function ResolutionText({
  resolution: { at, by, note },
}: {
  readonly resolution: NonNullable<PaymentDetail['resolution']>
}) {
  return (
    <p>
      <strong>Paid, not delivered, resolved.</strong> Marked by <bdi>{by ?? 'a former member'}</bdi> on{' '}
      <TimeText at={at} isExact />: <q>{note}</q>
    </p>
  )
}

/** Lets a member say that they have dealt with the purchase. It then no longer needs attention. */
function ResolutionForm({ payment: { id } }: Pick<PaymentDetail, 'payment'>) {
  const { slug, mode, role } = useWorkspace()
  const client = useQueryClient()
  if (!may(role, 'resolvePurchases')) return null
  const resolve = async (note: string) => {
    const input = { params: { slug, id }, body: { mode, note } }
    await request('POST /console/workspaces/:slug/payments/:id/resolve', input)
    await client.invalidateQueries({ queryKey: liveKey(slug, mode) })
  }
  return (
    <p>
      <NameDialog
        trigger={<Button>Mark as resolved</Button>}
        title="Mark this purchase as resolved?"
        label="What happened"
        charsMax={RESOLUTION_CHARS_MAX}
        initial=""
        onSubmit={resolve}
      >
        For example because the seller has paid the money back or delivered in another way. No money moves. The audit
        log records your note, and the purchase is no longer listed under “Paid, not delivered”.
      </NameDialog>
    </p>
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
