import type { Overview } from '@bursar/server/src/console/contract/overview.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { formatCount } from '../../format/format-count.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** Says how many purchases were paid and not delivered, with a link to their list. */
export function UndeliveredNotice({ undelivered: { count, since } }: Pick<Overview, 'undelivered'>) {
  const { to } = useWorkspace()
  if (count === 0) return null
  return (
    <Notice tone="warning">
      <p>
        <strong>Paid, not delivered:</strong>{' '}
        <TextLink to={`${to('payments')}?${new URLSearchParams({ kind: 'undelivered', from: since })}`}>
          {count === 1 ? 'one purchase' : `${formatCount(count)} purchases`}
        </TextLink>{' '}
        of the last 7 days. The seller has the money, but the agent did not get what it bought. Contact the seller.
      </p>
    </Notice>
  )
}
