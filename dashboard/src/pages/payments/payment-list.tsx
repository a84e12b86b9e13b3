import { useInfiniteQuery } from '@tanstack/react-query'
import type { PaymentSort } from '@bursar/server/src/console/contract/payments.ts'
import { paymentsQuery } from '../../api/queries.ts'
import { ButtonLink } from '../../components/button-link.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { LoadMoreButton } from '../../components/load-more-button.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { pathTo } from '../../navigation/paths.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import type { PaymentSearch } from './payment-search.ts'
import { PaymentsTable } from './payments-table.tsx'

/** What the button below the list loads, in an order other than the newest first. */
const MORE_TEXTS: Readonly<Partial<Record<PaymentSort, string>>> = {
  oldest: 'Load newer',
  largest: 'Load smaller',
  smallest: 'Load larger',
}

/** The payments that match the filters in the URL, in their order. */
export function PaymentList({ search: { filter, sort, view, isFiltered } }: { readonly search: PaymentSearch }) {
  const { slug, mode } = useWorkspace()
  const query = useInfiniteQuery(paymentsQuery(slug, mode, { ...filter, sort }))
  const { data, error, refetch, hasNextPage, isFetchingNextPage, isPlaceholderData, fetchNextPage } = query
  if (data === undefined) return <QueryState error={error} onRetry={refetch} lines={8} />
  const payments = data.pages.flatMap((page) => page.payments)
  const last = data.pages.at(-1)
  const further = last?.further ?? []
  const more = MORE_TEXTS[sort]
  return (
    <div aria-busy={isPlaceholderData} className={`grid gap-5 ${isPlaceholderData ? 'opacity-60' : ''}`}>
      <ErrorNotice error={error} onRetry={() => void refetch()} />
      {payments.length > 0 && <PaymentsTable payments={payments} />}
      {payments.length === 0 &&
        !hasNextPage &&
        (isFiltered || view !== 'all' ? <NoMatch isFiltered={isFiltered} id={filter.q} /> : <NoPayments />)}
      <LoadMoreButton
        next={last?.next}
        isBusy={isFetchingNextPage}
        isEmpty={last?.payments.length === 0}
        onLoadMore={() => void fetchNextPage()}
        {...(more === undefined ? {} : { label: more })}
      />
      {further.length > 0 && (
        <Section title="Found beyond this part of the list">
          <p className="text-muted">
            By recipient, amount, address or transaction. Memos, agents and websites were not searched here yet.
          </p>
          <PaymentsTable payments={further} />
        </Section>
      )}
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

/** An ID or a transaction's hash. It belongs to one mode only. */
const LOOKS_LIKE_ONE_PAYMENT = /^(?:pay_[0-9A-Z]{26}|0x[0-9a-f]{64})$/i

/** Shown if the filters match nothing. Links to the list without filters. */
function NoMatch({ isFiltered, id = '' }: { readonly isFiltered: boolean; readonly id: string | undefined }) {
  const { slug, mode, to } = useWorkspace()
  const other = mode === 'test' ? 'live' : 'test'
  return (
    <EmptyState title="No payments found" action={<ButtonLink to={to('payments')}>Show all payments</ButtonLink>}>
      {isFiltered ? 'No payments match these filters.' : 'No payments have this status.'}
      {LOOKS_LIKE_ONE_PAYMENT.test(id) && (
        <p>
          This list is of {mode} mode.{' '}
          <TextLink to={`${pathTo(slug, other, 'payments')}?${new URLSearchParams({ q: id })}`}>
            Search in {other} mode
          </TextLink>
        </p>
      )}
    </EmptyState>
  )
}
