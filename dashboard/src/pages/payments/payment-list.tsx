import { useInfiniteQuery } from '@tanstack/react-query'
import { paymentsQuery } from '../../api/queries.ts'
import { ButtonLink } from '../../components/button-link.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { LoadMoreButton } from '../../components/load-more-button.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import type { PaymentSearch } from './payment-search.ts'
import { PaymentsTable } from './payments-table.tsx'

/** The payments that match the filters in the URL, newest first. */
export function PaymentList({ search: { filter, view, isFiltered } }: { readonly search: PaymentSearch }) {
  const { slug, mode } = useWorkspace()
  const query = useInfiniteQuery(paymentsQuery(slug, mode, filter))
  const { data, error, refetch, hasNextPage, isFetchingNextPage, isPlaceholderData, fetchNextPage } = query
  if (data === undefined) return <QueryState error={error} onRetry={refetch} lines={8} />
  const payments = data.pages.flatMap((page) => page.payments)
  const last = data.pages.at(-1)
  return (
    <div aria-busy={isPlaceholderData} className={`grid gap-5 ${isPlaceholderData ? 'opacity-60' : ''}`}>
      <ErrorNotice error={error} onRetry={() => void refetch()} />
      {payments.length > 0 && <PaymentsTable payments={payments} />}
      {payments.length === 0 &&
        !hasNextPage &&
        (isFiltered || view !== 'all' ? <NoMatch isFiltered={isFiltered} /> : <NoPayments />)}
      <LoadMoreButton
        next={last?.next}
        isBusy={isFetchingNextPage}
        isEmpty={last?.payments.length === 0}
        onLoadMore={() => void fetchNextPage()}
      />
    </div>
  )
}

function NoPayments() {
  const { to } = useWorkspace()
  return (
    <EmptyState
      title="No payments yet"
      action={
        <ButtonLink variant="primary" to={to('developers', 'examples')}>
          Show examples
        </ButtonLink>
      }
    >
      An agent with a grant sends a payment with one API request. The examples already contain your IDs.
    </EmptyState>
  )
}

/** Shown if the filters match nothing. Links to the list without filters. */
function NoMatch({ isFiltered }: { readonly isFiltered: boolean }) {
  const { to } = useWorkspace()
  return (
    <EmptyState title="No payments found" action={<ButtonLink to={to('payments')}>Show all payments</ButtonLink>}>
      {isFiltered ? 'No payments match these filters.' : 'No payments have this status.'}
    </EmptyState>
  )
}
