import { useQuery } from '@tanstack/react-query'
import { deliveryQuery } from '../../api/deliveries.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { explainAttempt } from '../../format/webhook-text.ts'
import { useWorkspace } from '../workspace/workspace-context.ts'

/** What came of a test event, as soon as it is known. */
export function TestOutcome({ deliveryId }: { readonly deliveryId: string | undefined }) {
  const { slug, mode, to } = useWorkspace()
  const { data } = useQuery({ ...deliveryQuery(slug, mode, deliveryId ?? ''), enabled: deliveryId !== undefined })
  const attempt = data?.attempts.at(-1)
  const fault = attempt === undefined ? null : explainAttempt(attempt)
  return (
    <div role="status" className="empty:hidden">
      {deliveryId !== undefined && (
        <Notice tone={fault === null ? 'plain' : 'danger'}>
          <p>
            {attempt === undefined && 'The test event is on its way… '}
            {attempt !== undefined && fault === null && (
              <>
                <strong>The test event arrived.</strong> Answered {attempt.status_code} after {attempt.duration_ms}{' '}
                ms.{' '}
              </>
            )}
            {fault !== null && (
              <>
                <strong>The test event did not arrive.</strong> {fault}{' '}
              </>
            )}
            <TextLink to={to('developers', 'deliveries', deliveryId)}>See the delivery</TextLink>
          </p>
        </Notice>
      )}
    </div>
  )
}
