import { useInfiniteQuery } from '@tanstack/react-query'
import type { RefusedRequest } from '@bursar/server/src/console/contract/refusals.ts'
import { refusalsQuery } from '../../api/queries.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { ButtonLink } from '../../components/button-link.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { TruncatedText } from '../../components/truncated-text.tsx'
import { LoadMoreButton } from '../../components/load-more-button.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { formatResource } from '../../format/format-resource.ts'
import { formatRefusal } from '../../format/refusal-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import type { PaymentSearch } from './payment-search.ts'
import { RecipientText } from './recipient-text.tsx'

const COLUMNS: readonly Column<RefusedRequest>[] = [
  { title: 'Amount', isNumber: true, render: ({ amount_usdc }) => <AmountText usdc={amount_usdc} /> },
  { title: 'Created', render: ({ created_at }) => <TimeText at={created_at} isRelative /> },
  { title: 'Reason', render: formatRefusal },
  {
    title: 'To',
    isLong: true,
    render: ({ to, resource_url }) => (
      <TruncatedText title={resource_url ?? undefined}>
        {resource_url === null ? <RecipientText address={to} /> : <bdi>{formatResource(resource_url)}</bdi>}
      </TruncatedText>
    ),
  },
  {
    title: 'Agent',
    isLong: true,
    render: ({ agent_id }) => (
      <TruncatedText title={agent_id}>
        <bdi>{agent_id}</bdi>
      </TruncatedText>
    ),
  },
]

/** Rejected requests, newest first. */
export function RefusalList({ search: { filter, isFiltered } }: { readonly search: PaymentSearch }) {
  const { slug, mode, to } = useWorkspace()
  const query = useInfiniteQuery(refusalsQuery(slug, mode, filter.agent === undefined ? {} : { agent: filter.agent }))
  const { data, error, refetch, hasNextPage, isFetchingNextPage, isPlaceholderData, fetchNextPage } = query
  if (data === undefined) return <QueryState error={error} onRetry={refetch} lines={8} />
  const refusals = data.pages.flatMap((page) => page.refusals)
  const last = data.pages.at(-1)
  return (
    <div aria-busy={isPlaceholderData} className={`grid gap-5 ${isPlaceholderData ? 'opacity-60' : ''}`}>
      <ErrorNotice error={error} onRetry={() => void refetch()} />
      {refusals.length > 0 && (
        <DataTable
          caption="Rejected requests"
          columns={COLUMNS}
          items={refusals}
          keyOf={({ id }) => id}
          hrefOf={({ id }) => to('refusals', id)}
        />
      )}
      {refusals.length === 0 && !hasNextPage && (
        <EmptyState
          title="No rejected requests"
          action={<ButtonLink to={to('payments')}>Show all payments</ButtonLink>}
        >
          {isFiltered
            ? 'No requests of this agent were rejected in the last 30 days.'
            : 'No requests were rejected in the last 30 days.'}
        </EmptyState>
      )}
      <LoadMoreButton
        next={last?.next}
        isBusy={isFetchingNextPage}
        isEmpty={last?.refusals.length === 0}
        onLoadMore={() => void fetchNextPage()}
      />
    </div>
  )
}
