import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { deliveriesKey, deliveryQuery } from '../../api/deliveries.ts'
import { webhooksQuery } from '../../api/webhooks.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { explainAttempt } from '../../format/webhook-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** What came of a test event, as soon as it is known. */
export function TestEventResult({ deliveryId }: { readonly deliveryId: string | undefined }) {
  const { slug, mode, to } = useWorkspace()
  const { data } = useQuery({ ...deliveryQuery(slug, mode, deliveryId ?? ''), enabled: deliveryId !== undefined })
  const attempt = data?.attempts.at(-1)
  const error = attempt === undefined ? null : explainAttempt(attempt)
  const client = useQueryClient()
  const hasOutcome = attempt !== undefined
  // No live change tells of it: the list of deliveries, and whether the endpoint is failing, are read with it.
  useEffect(() => {
    if (!hasOutcome) return
    void client.invalidateQueries({ queryKey: deliveriesKey(slug, mode) })
    void client.invalidateQueries({ queryKey: webhooksQuery(slug, mode).queryKey })
  }, [client, slug, mode, hasOutcome])
  return (
    <div role="status" className="empty:hidden">
      {deliveryId !== undefined && (
        <Notice tone={error === null ? 'plain' : 'danger'}>
          <p>
            {attempt === undefined && 'The test event is on its way… '}
            {attempt !== undefined && error === null && (
              <>
                <strong>The test event arrived.</strong> Answered {attempt.status_code} after {attempt.duration_ms}{' '}
                ms.{' '}
              </>
            )}
            {error !== null && (
              <>
                <strong>The test event did not arrive.</strong> {error}{' '}
              </>
            )}
            <TextLink to={to('developers', 'deliveries', deliveryId)}>See the delivery</TextLink>
          </p>
        </Notice>
      )}
    </div>
  )
}
