import { useInfiniteQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import { paymentsQuery } from '../../api/queries.ts'
import { download } from '../../api/download.ts'
import { pathOf } from '../../api/build-path.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Notice } from '../../components/notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { SegmentedLinks } from '../../components/segmented-links.tsx'
import { TIME_ZONE } from '../../format/date.ts'
import { explainEvidenceError } from '../../format/explain-evidence-error.ts'
import { formatLeftOut, readLeftOut } from '../../format/left-out.ts'
import { withParam } from '../../navigation/with-param.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { PaymentFilters } from './payment-filters.tsx'
import { PaymentList } from './payment-list.tsx'
import { ListSums } from './list-sums.tsx'
import { PAYMENT_VIEWS, parsePaymentSearch, withoutFilters, withView, type View } from './payment-search.ts'
import { RefusalList } from './refusal-list.tsx'
import { SavedViews } from './saved-views.tsx'
import { useAction } from '../../components/use-action.ts'

const VIEW_TEXTS: Readonly<Record<View, string>> = {
  all: 'All payments',
  confirmed: 'Confirmed',
  pending: 'Pending',
  failed: 'Failed',
  refused: 'Rejected requests',
}

export function PaymentsPage() {
  const { slug, mode, name } = useWorkspace()
  const [params, setParams] = useSearchParams()
  const search = parsePaymentSearch(params)
  const { view, filter, sort } = search
  const isRejected = view === 'refused'
  const { data } = useInfiniteQuery({ ...paymentsQuery(slug, mode, { ...filter, sort }), enabled: !isRejected })
  // The days of the filter are in the user's time zone, so the times of the file are too. The server rejects a filter
  // that matches more than 100,000 payments.
  const exporting = useAction({
    mutationFn: () => {
      const [params, place] = [{ slug }, { mode, time_zone: TIME_ZONE }]
      // The file has every rejected request, whether the list groups them or not.
      const { group: _group, ...refusals } = search.refusals
      return download(
        isRejected
          ? pathOf('GET /console/workspaces/:slug/refusals/export', { params, query: { ...place, ...refusals } })
          : pathOf('GET /console/workspaces/:slug/payments/export', { params, query: { ...place, ...filter } }),
      )
    },
  })
  const proving = useAction({
    mutationFn: async () => {
      const query = { mode, time_zone: TIME_ZONE, ...filter }
      return await readLeftOut(
        await download(pathOf('GET /console/workspaces/:slug/payments/evidence', { params: { slug }, query })),
      )
    },
  })
  // Without any payments there is nothing to filter or export.
  const isEmpty =
    view === 'all' &&
    !search.isFiltered &&
    data?.pages.every(({ payments, next }) => payments.length === 0 && next === null) === true
  const change = (next: (current: URLSearchParams) => URLSearchParams) =>
    setParams(next, { replace: true, preventScrollReset: true })
  const segmentOf = (choice: View) => ({
    text: VIEW_TEXTS[choice],
    to: { search: withView(params, choice).toString() },
    isCurrent: choice === view,
  })
  return (
    <>
      <PageHeading
        title="Payments"
        breadcrumb={name}
        lead={isRejected ? 'Payment requests that failed a check. They are kept for 30 days.' : undefined}
        actions={
          isEmpty ? undefined : (
            <>
              <Button isBusy={exporting.isPending} onClick={() => exporting.mutate()}>
                Export CSV
              </Button>
              {!isRejected && (
                <Button isBusy={proving.isPending} onClick={() => proving.mutate()}>
                  Export evidence
                </Button>
              )}
            </>
          )
        }
      />
      <ErrorNotice error={exporting.error} />
      <ErrorNotice error={proving.error} explain={explainEvidenceError} />
      <div role="status" className="empty:absolute">
        {proving.data !== undefined && proving.data > 0 && (
          <Notice>
            <p>{formatLeftOut(proving.data)}</p>
          </Notice>
        )}
      </div>
      <div className="grid gap-5">
        <div className="flex min-w-0 flex-wrap gap-x-4 gap-y-2">
          <SegmentedLinks label="Payments by status" segments={PAYMENT_VIEWS.map(segmentOf)} />
          <SegmentedLinks label="Rejected requests" segments={[segmentOf('refused')]} />
        </div>
        {!isEmpty && (
          <>
            <SavedViews query={search.query} />
            <PaymentFilters
              search={search}
              onChange={(field, value) => change((current) => withParam(current, field, value))}
              onClear={() => change(withoutFilters)}
            />
          </>
        )}
        {isRejected ? (
          <RefusalList search={search} />
        ) : (
          <>
            {!isEmpty && <ListSums filter={filter} />}
            <PaymentList search={search} />
          </>
        )}
      </div>
    </>
  )
}
