import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import type { Overview } from '@bursar/server/src/console/contract/overview.ts'
import { overviewQuery, spendingQuery } from '../../api/queries.ts'
import { PageHeading } from '../../components/page-heading.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { BreakdownSection } from './breakdown-section.tsx'
import { CapsSection } from './caps-section.tsx'
import { ConditionsSection } from './conditions-section.tsx'
import { FundsSection } from './funds-section.tsx'
import { GetStarted } from './get-started.tsx'
import { LatestDeposits, LatestPayments } from './latest-activity.tsx'
import { PaymentResults } from './payment-results.tsx'
import { parseChoice } from '../spending/period.ts'
import { PeriodPicker } from '../spending/period-picker.tsx'
import { SpendSection } from '../spending/spend-section.tsx'
import { TooLargeNotice } from '../spending/too-large-notice.tsx'

/** Whether something is wrong, how much there is and can still be spent, and where the money goes. */
export function OverviewPage() {
  const { slug, name, mode } = useWorkspace()
  const { data: overview, error, refetch } = useQuery(overviewQuery(slug, mode))
  return (
    <>
      <PageHeading title="Overview" breadcrumb={name} />
      {overview === undefined && <QueryState error={error} onRetry={refetch} lines={9} />}
      {overview !== undefined && <Sections overview={overview} />}
    </>
  )
}

/** Before the first payment, the page shows the steps to get started instead of the spending. */
function Sections({ overview }: { readonly overview: Overview }) {
  const { conditions, wallets, steps, caps, caps_count, payments, deposits } = overview
  return (
    <>
      {(steps.payment || conditions.length > 0) && (
        <ConditionsSection
          conditions={conditions}
          unread={wallets.filter(({ balance_usdc }) => balance_usdc === null).length}
        />
      )}
      {!steps.payment && <GetStarted steps={steps} />}
      {wallets.length > 0 && <FundsSection wallets={wallets} />}
      {steps.payment && <SpendingSections />}
      {caps.length > 0 && <CapsSection caps={caps} caps_count={caps_count} />}
      {(steps.payment || deposits.length > 0) && (
        <div className="grid grid-cols-1 items-start gap-8 xl:grid-cols-2">
          <LatestPayments payments={payments} />
          <LatestDeposits deposits={deposits} />
        </div>
      )}
    </>
  )
}

/** What was spent in the chosen period. All of these sections are about this period. */
function SpendingSections() {
  const { slug, mode } = useWorkspace()
  const [search] = useSearchParams()
  const choice = parseChoice(search)
  const { data: spending, error, refetch } = useQuery(spendingQuery(slug, mode, choice))
  return (
    <>
      <PeriodPicker choice={choice} days={spending?.days} />
      {spending === undefined && <QueryState error={error} onRetry={refetch} lines={9} />}
      {spending?.is_too_large === true && <TooLargeNotice />}
      {spending?.is_too_large === false && (
        <>
          <SpendSection spending={spending} choice={choice} />
          <BreakdownSection spending={spending} choice={choice} />
          <PaymentResults spending={spending} />
        </>
      )}
    </>
  )
}
