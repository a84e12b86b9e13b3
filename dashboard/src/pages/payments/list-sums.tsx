import { useQuery } from '@tanstack/react-query'
import type { PaymentFilter } from '@bursar/server/src/console/contract/payments.ts'
import { sumsQuery } from '../../api/queries.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { formatCount } from '../../format/format-count.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** Counts and sums of the payments that match the filter. Failed payments moved no money, so they have no sum. */
export function ListSums({ filter }: { readonly filter: PaymentFilter }) {
  const { slug, mode } = useWorkspace()
  const { data: sums } = useQuery(sumsQuery(slug, mode, filter))
  // The line has its height before it is loaded, so that the list does not move.
  if (sums === undefined) return <p className="min-h-6" />
  const { confirmed, pending, failed, since } = sums
  const count = confirmed + pending + failed
  // The list says itself that it is empty.
  if (count === 0 && since === null) return null
  return (
    <p role="status" className="flex min-h-6 flex-wrap gap-x-4 gap-y-1 text-muted">
      <span className="font-semibold text-ink">
        {since !== null && 'At least '}
        {formatCount(count)} {count === 1 && since === null ? 'payment' : 'payments'}
      </span>
      {confirmed > 0 && (
        <span>
          <AmountText usdc={sums.confirmed_usdc} isStrong /> confirmed
        </span>
      )}
      {pending > 0 && (
        <span>
          <AmountText usdc={sums.pending_usdc} /> pending
        </span>
      )}
      {failed > 0 && <span>{formatCount(failed)} failed, not in the sum</span>}
      {since !== null && (
        <span>
          Counted back to <TimeText at={since} isExact />. Choose dates for an exact sum.
        </span>
      )}
    </p>
  )
}
