import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { formatAmount } from '../../format/amount.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { GrantBadge } from './grant-badge.tsx'

interface GrantTableProps {
  readonly caption: string
  readonly grants: readonly Grant[]
  /** The column that is left out, because its value is the same in every row. */
  readonly hiddenColumn?: 'agent' | 'wallet'
}

/** A table of grants. Each row links to its grant. */
export function GrantTable({ caption, grants, hiddenColumn }: GrantTableProps) {
  const { to } = useWorkspace()
  const columns = COLUMNS.filter(({ title }) => title.toLowerCase() !== hiddenColumn)
  return (
    <DataTable
      caption={caption}
      columns={columns}
      items={grants}
      keyOf={(grant) => grant.id}
      hrefOf={(grant) => to('grants', grant.id)}
    />
  )
}

const COLUMNS: readonly Column<Grant>[] = [
  { title: 'Agent', render: ({ agent_id }) => <bdi className="wrap-anywhere">{agent_id}</bdi> },
  { title: 'Wallet', render: ({ wallet_name }) => <bdi className="wrap-anywhere">{wallet_name}</bdi> },
  { title: 'Status', render: ({ state }) => <GrantBadge state={state} /> },
  { title: 'Per-payment limit', isNumber: true, render: (grant) => <PerPayment grant={grant} /> },
  { title: '24-hour limit', isNumber: true, isWide: true, render: (grant) => <DailyLimit grant={grant} /> },
  { title: 'Recipients', isSecondary: true, render: ({ recipient_allowlist: list }) => countRecipients(list.length) },
  {
    title: 'End date',
    isSecondary: true,
    render: ({ expires_at }) => (expires_at === null ? 'None' : <TimeText at={expires_at} />),
  },
]

function PerPayment({ grant }: { readonly grant: Grant }) {
  return (
    <>
      <AmountText usdc={grant.max_per_tx_usdc} />
      <span className="text-[0.85em] text-muted md:hidden"> per payment</span>
    </>
  )
}

function DailyLimit({ grant }: { readonly grant: Grant }) {
  const isActive = grant.state === 'active' && grant.remaining_24h_usdc !== null
  return (
    <span className="tabular-nums md:whitespace-nowrap">
      {isActive ? `${formatAmount(grant.remaining_24h_usdc)} left of ` : ''}
      {formatAmount(grant.daily_cap_usdc)}{' '}
      <span className="text-[0.85em] text-muted">
        USDC<span className="md:hidden"> in 24 hours</span>
      </span>
    </span>
  )
}

function countRecipients(count: number): string {
  if (count === 0) return 'Any recipient'
  return count === 1 ? '1 address' : `${count} addresses`
}
