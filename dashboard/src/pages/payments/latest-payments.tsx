import { useInfiniteQuery } from '@tanstack/react-query'
import { paymentsQuery } from '../../api/queries.ts'
import { Section } from '../../components/section.tsx'
import { EmptyList } from '../../components/list.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { PaymentsTable } from './payments-table.tsx'

interface LatestPaymentsProps {
  readonly filter: { readonly agent?: string; readonly wallet?: string }
}

const SHOWN_MAX = 5

/** The latest payments of an agent or from a wallet, with a link to all of them. */
export function LatestPayments({ filter }: LatestPaymentsProps) {
  const { slug, mode, to } = useWorkspace()
  const { data, error, refetch } = useInfiniteQuery(paymentsQuery(slug, mode, filter))
  const payments = data?.pages.flatMap((page) => page.payments).slice(0, SHOWN_MAX)
  return (
    <Section
      title={filter.agent === undefined ? 'Latest payments and withdrawals' : 'Latest payments'}
      actions={
        payments !== undefined &&
        payments.length > 0 && (
          <TextLink to={`${to('payments')}?${new URLSearchParams(filter)}`}>Show all payments</TextLink>
        )
      }
    >
      {payments === undefined && <QueryState error={error} onRetry={refetch} />}
      {payments?.length === 0 && (
        <EmptyList>{filter.agent === undefined ? 'No payments or withdrawals yet.' : 'No payments yet.'}</EmptyList>
      )}
      {payments !== undefined && payments.length > 0 && (
        <PaymentsTable payments={payments} isOneAgent={filter.agent !== undefined} />
      )}
    </Section>
  )
}
