import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import { AmountText, RoundedNumber } from '../../components/amount-text.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { TruncatedText } from '../../components/truncated-text.tsx'
import { useSpendable } from '../workspace/use-spendable.ts'
import type { Spendable } from '../../format/funds-text.ts'
import { formatCreator, formatWaitsFor } from '../../format/grant-state-text.ts'
import { AgentText } from '../workspace/agent-text.tsx'
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
  const isWaiting = grants.length > 0 && grants.every(({ state }) => state === 'pending')
  const columns = (isWaiting ? WAITING_COLUMNS : COLUMNS).filter(({ title }) => title.toLowerCase() !== hiddenColumn)
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
  {
    title: 'Agent',
    isLong: true,
    width: 'md:w-[24%] xl:w-[18%]',
    render: ({ agent_id }) => <AgentText id={agent_id} />,
  },
  {
    title: 'Wallet',
    isLong: true,
    width: 'md:w-[20%] xl:w-[15%]',
    render: ({ wallet_name }) => (
      <TruncatedText title={wallet_name}>
        <bdi>{wallet_name}</bdi>
      </TruncatedText>
    ),
  },
  { title: 'Status', width: 'md:w-[22%] xl:w-[14%]', render: ({ state }) => <GrantBadge state={state} /> },
  {
    title: 'Per payment',
    isNumber: true,
    width: 'md:w-[16%] xl:w-[13%]',
    render: (grant) => <PerPayment grant={grant} />,
  },
  {
    title: '24-hour limit',
    isNumber: true,
    isWide: true,
    width: 'md:w-[18%] xl:w-[14%]',
    render: (grant) => <DailyLimit grant={grant} />,
  },
  {
    title: 'Recipients',
    isSecondary: true,
    width: 'xl:w-[14%]',
    render: ({ recipient_allowlist: list }) => countRecipients(list.length),
  },
  {
    title: 'End date',
    isSecondary: true,
    width: 'xl:w-[12%]',
    render: ({ expires_at }) => (expires_at === null ? 'None' : <TimeText at={expires_at} />),
  },
]

/** For grants that wait for a signature. Who can sign is more useful here than the status, which is the same in all rows. */
const WAITING_COLUMNS: readonly Column<Grant>[] = COLUMNS.map((column) =>
  column.title === 'Status'
    ? { title: 'Waits for', render: (grant) => <WaitsFor grant={grant} /> }
    : column.title === 'End date'
      ? { title: 'Prepared by', isSecondary: true, render: (grant) => <bdi>{formatCreator(grant)}</bdi> }
      : column,
)

function WaitsFor({ grant }: { readonly grant: Grant }) {
  return (
    <>
      <span className="text-muted md:hidden">Waits for </span>
      <bdi>{formatWaitsFor(grant)}</bdi>
    </>
  )
}

function PerPayment({ grant }: { readonly grant: Grant }) {
  return (
    <>
      <AmountText usdc={grant.max_per_tx_usdc} />
      <span className="text-[0.85em] text-muted md:hidden"> per payment</span>
    </>
  )
}

/** What can still be spent, which is never more than the wallet has, of the limit. */
function DailyLimit({ grant }: { readonly grant: Grant }) {
  const spendable = useSpendable()
  const { state, remaining_24h_usdc, daily_cap_usdc, wallet } = grant
  const left = state === 'active' && remaining_24h_usdc !== null ? spendable(remaining_24h_usdc, wallet) : null
  return (
    <span className="tabular-nums">
      {left !== null && <Left left={left} />}{' '}
      <span className={`whitespace-nowrap ${left === null ? '' : 'text-[0.85em] text-muted md:block'}`}>
        {left !== null && (left.usdc === null ? 'limit ' : 'of ')}
        <RoundedNumber usdc={daily_cap_usdc} /> <span className="text-[0.85em] text-muted">USDC</span>
      </span>
      <span className="text-[0.85em] text-muted md:hidden"> in 24 hours</span>
    </span>
  )
}

function Left({ left }: { readonly left: Spendable }) {
  if (left.usdc === null) return <span className="text-muted">{left.text}</span>
  return (
    <span className="whitespace-nowrap">
      <RoundedNumber usdc={left.usdc} /> left
    </span>
  )
}

function countRecipients(count: number): string {
  if (count === 0) return 'Any recipient'
  return count === 1 ? '1 address' : `${count} addresses`
}
