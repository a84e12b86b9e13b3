import { useInfiniteQuery } from '@tanstack/react-query'
import type { ListedRefusal } from '@bursar/server/src/console/contract/refusals.ts'
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
import { formatCount } from '../../format/format-count.ts'
import { formatResource } from '../../format/format-resource.ts'
import { formatRefusal } from '../../format/refusal-text.ts'
import { AgentText } from '../workspace/agent-text.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import type { PaymentSearch } from './payment-search.ts'
import { RecipientText } from './recipient-text.tsx'

const COLUMNS: readonly Column<ListedRefusal>[] = [
  { title: 'Amount', isNumber: true, render: ({ amount_usdc }) => <AmountText usdc={amount_usdc} /> },
  {
    title: 'Created',
    render: ({ created_at, first_at, times }) => (
      <>
        <TimeText at={created_at} isRelative />
        {times > 1 && (
          <span className="block text-[0.8125rem] text-muted">
            first <TimeText at={first_at} isRelative />
          </span>
        )}
      </>
    ),
  },
  {
    title: 'Reason',
    render: (refusal) => (
      <>
        {formatRefusal(refusal)}
        {refusal.times > 1 && (
          <span className="block text-[0.8125rem] font-semibold">{formatCount(refusal.times)} times</span>
        )}
      </>
    ),
  },
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
    render: ({ agent_id }) => <AgentText id={agent_id} />,
  },
]

/** Rejected requests, newest first. By default, identical ones are one row. */
export function RefusalList({ search: { refusals: filter, isFiltered } }: { readonly search: PaymentSearch }) {
  const { slug, mode, to } = useWorkspace()
  const query = useInfiniteQuery(refusalsQuery(slug, mode, filter))
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
          action={
            isFiltered ? (
              <ButtonLink to={`${to('payments')}?status=refused`}>Show all rejected requests</ButtonLink>
            ) : (
              <ButtonLink to={to('payments')}>Show all payments</ButtonLink>
            )
          }
        >
          {isFiltered
            ? 'No rejected requests of the last 30 days match these filters.'
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
