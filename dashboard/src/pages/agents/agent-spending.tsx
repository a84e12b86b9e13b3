import { useQuery } from '@tanstack/react-query'
import { spendingQuery } from '../../api/queries.ts'
import { QueryState } from '../../components/query-state.tsx'
import { SpendSection } from '../spending/spend-section.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** What the agent spent in this calendar month, day by day, and in the same time of the month before. */
export function AgentSpending({ agentId }: { readonly agentId: string }) {
  const { slug, mode } = useWorkspace()
  const choice = { period: 'this_month', by: 'agent', agent: agentId } as const
  const { data: spending, error, refetch } = useQuery(spendingQuery(slug, mode, choice))
  if (spending === undefined) return <QueryState error={error} onRetry={refetch} />
  return spending.is_too_large ? null : <SpendSection spending={spending} agentId={agentId} />
}
