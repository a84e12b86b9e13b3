import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { deliveryQuery, webhooksQuery } from '../../api/queries.ts'
import { deliveriesKey } from '../../api/query-key.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { explainAttempt } from '../../format/webhook-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

const TEST_REFRESH_MS = 400

/** The result of a test event, once it is known. */
export function TestEventResult({ deliveryId }: { readonly deliveryId: string | undefined }) {
  const { slug, mode, to } = useWorkspace()
  const { data } = useQuery({
    ...deliveryQuery(slug, mode, deliveryId ?? ''),
    enabled: deliveryId !== undefined,
    // The user waits for the result of a test.
    refetchInterval: ({ state }) => state.data?.attempts.length === 0 && TEST_REFRESH_MS,
  })
  const attempt = data?.attempts.at(-1)
  const failure = attempt === undefined ? null : explainAttempt(attempt)
  const client = useQueryClient()
  const isFinished = attempt !== undefined
  // The stream of changes does not announce test events. So the list of deliveries and the status of the endpoint are
  // fetched again here.
  useEffect(() => {
    if (!isFinished) return
    void client.invalidateQueries({ queryKey: deliveriesKey(slug, mode) })
    void client.invalidateQueries({ queryKey: webhooksQuery(slug, mode).queryKey })
  }, [client, slug, mode, isFinished])
  return (
    <div role="status" className="empty:hidden">
      {deliveryId !== undefined && (
        <Notice tone={failure === null ? 'plain' : 'danger'}>
          <p>
            {attempt === undefined && 'The test event is being sent… '}
            {attempt !== undefined && failure === null && (
              <>
                <strong>The test event was delivered.</strong> Your server responded with {attempt.status_code} after{' '}
                {attempt.duration_ms} ms.{' '}
              </>
            )}
            {failure !== null && (
              <>
                <strong>The test event was not delivered.</strong> {failure}{' '}
              </>
            )}
            <TextLink to={to('developers', 'deliveries', deliveryId)}>View delivery</TextLink>
          </p>
        </Notice>
      )}
    </div>
  )
}
