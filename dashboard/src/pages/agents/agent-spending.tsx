import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import type { Spending } from '@bursar/server/src/console/contract/overview.ts'
import { spendingQuery } from '../../api/queries.ts'
import { QueryState } from '../../components/query-state.tsx'
import { Section } from '../../components/section.tsx'
import { toMicro } from '../../format/amount.ts'
import { parseChoice } from '../spending/period.ts'
import { PeriodPicker } from '../spending/period-picker.tsx'
import { SpendSection } from '../spending/spend-section.tsx'
import { SpendingTable } from '../spending/spending-table.tsx'
import { TooLargeNotice } from '../spending/too-large-notice.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** What the agent spent in a calendar period, bar by bar and by recipient, and in the same time of the period before. */
export function AgentSpending({ agentId }: { readonly agentId: string }) {
  const { slug, mode } = useWorkspace()
  const [search] = useSearchParams()
  const choice = parseChoice(search)
  const wanted = { ...choice, by: 'recipient', agent: agentId } as const
  const { data: spending, error, refetch } = useQuery(spendingQuery(slug, mode, wanted))
  return (
    <>
      <PeriodPicker choice={choice} days={spending?.days} />
      {spending === undefined && <QueryState error={error} onRetry={refetch} />}
      {spending?.is_too_large === true && <TooLargeNotice />}
      {spending?.is_too_large === false && (
        <>
          <SpendSection spending={spending} agentId={agentId} />
          <Recipients spending={spending} agentId={agentId} />
        </>
      )}
    </>
  )
}

function Recipients({ spending, agentId }: { readonly spending: Spending; readonly agentId: string }) {
  const { rows, spent_usdc } = spending
  if (rows.length === 0 && toMicro(spent_usdc) === 0n) return null
  return (
    <Section title="Where it goes">
      {rows.length === 0 ? <TooLargeNotice /> : <SpendingTable spending={spending} agentId={agentId} />}
    </Section>
  )
}
