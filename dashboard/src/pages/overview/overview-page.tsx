import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import type { Overview, Range } from '@bursar/server/src/console/contract/overview.ts'
import { overviewQuery } from '../../api/queries.ts'
import { PageHeading } from '../../components/page-heading.tsx'
import { SegmentedLinks } from '../../components/segmented-links.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { CapsSection } from './caps-section.tsx'
import { GetStarted } from './get-started.tsx'
import { HostsSection } from './hosts-section.tsx'
import { LatestDeposits, LatestPayments } from './latest-activity.tsx'
import { PaymentResults } from './payment-results.tsx'
import { SpendSection } from './spend-section.tsx'
import { WalletsNotice } from './wallets-notice.tsx'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { formatCount } from '../../format/format-count.ts'

const RANGES = [
  { range: '24h', text: '24 hours' },
  { range: '7d', text: '7 days' },
  { range: '30d', text: '30 days' },
] as const
const DEFAULT_RANGE: Range = '7d'

export function OverviewPage() {
  const { slug, name, mode } = useWorkspace()
  const [search] = useSearchParams()
  const range = RANGES.find((choice) => choice.range === search.get('range'))?.range ?? DEFAULT_RANGE
  const { data: overview, error, refetch } = useQuery(overviewQuery(slug, mode, range))
  const segments = RANGES.map((choice) => ({
    text: choice.text,
    to: choice.range === DEFAULT_RANGE ? '?' : `?range=${choice.range}`,
    isCurrent: choice.range === range,
  }))
  const hasPayments = overview?.steps.payment !== false
  return (
    <>
      <PageHeading
        title="Overview"
        breadcrumb={name}
        actions={hasPayments ? <SegmentedLinks label="Time range" segments={segments} /> : undefined}
      />
      <WalletsNotice />
      {overview === undefined && <QueryState error={error} onRetry={refetch} lines={9} />}
      {overview !== undefined && <Sections overview={overview} />}
    </>
  )
}

/** Before the first payment, the page shows the steps to get started instead of the chart. */
function Sections({ overview }: { readonly overview: Overview }) {
  const { steps, counts, caps, payments, deposits } = overview
  return (
    <>
      <UndeliveredNotice undelivered={overview.undelivered} />
      {!steps.payment && <GetStarted steps={steps} />}
      {steps.payment && <SpendSection overview={overview} />}
      {(steps.payment || counts.refused > 0) && <PaymentResults overview={overview} />}
      {caps.length > 0 && <CapsSection caps={caps} />}
      {steps.payment && <HostsSection />}
      {(steps.payment || deposits.length > 0) && (
        <div className="grid grid-cols-1 items-start gap-8 xl:grid-cols-2">
          <LatestPayments payments={payments} />
          <LatestDeposits deposits={deposits} />
        </div>
      )}
    </>
  )
}

/** Says how many purchases were paid and not delivered, with a link to their list. */
function UndeliveredNotice({ undelivered: { count, since } }: Pick<Overview, 'undelivered'>) {
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
