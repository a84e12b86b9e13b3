import { useQuery } from '@tanstack/react-query'
import type { Agent, Wallet } from '../../api/wire-spending.ts'
import { walletsQuery } from '../../api/wallets.ts'
import { CodeText } from '../../components/code-text.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { formatAmount } from '../../format/amount.ts'
import { useWorkspace } from '../workspace/workspace-context.ts'
import { AgentBadge } from './agent-badge.tsx'

/** Every agent, and what it may still spend today, wallet by wallet. */
export function AgentTable({ agents }: { readonly agents: readonly Agent[] }) {
  const { slug, mode, to } = useWorkspace()
  const { data: wallets } = useQuery(walletsQuery(slug, mode))
  const columns: readonly Column<Agent>[] = [
    { title: 'Agent', render: ({ id }) => <bdi className="break-all">{id}</bdi> },
    { title: 'Status', render: (agent) => <AgentBadge agent={agent} /> },
    { title: 'Left today', render: (agent) => <LeftToday agent={agent} wallets={wallets} /> },
    { title: 'Created', isSpare: true, render: ({ created_at }) => <TimeText at={created_at} /> },
  ]
  return (
    <DataTable
      caption="Agents"
      columns={columns}
      items={agents}
      keyOf={({ id }) => id}
      toOf={({ id }) => to('agents', id)}
    />
  )
}

const WALLETS_SHOWN_MAX = 3

function LeftToday({ agent, wallets }: { readonly agent: Agent; readonly wallets: readonly Wallet[] | undefined }) {
  if (agent.wallets.length === 0) return <span className="text-muted">Nothing: it has no grant in force</span>
  const shown = agent.wallets.slice(0, WALLETS_SHOWN_MAX)
  const more = agent.wallets.length - shown.length
  return (
    <ul className="grid gap-0.5">
      {shown.map(({ address, remaining_24h_usdc, daily_cap_usdc }) => (
        <li key={address}>
          <span className="font-semibold tabular-nums">{formatAmount(remaining_24h_usdc)}</span>
          <span className="text-muted">
            {' '}
            of {formatAmount(daily_cap_usdc)} USDC from <WalletText address={address} wallets={wallets} />
          </span>
        </li>
      ))}
      {more > 0 && <li className="text-muted">and from {more} more</li>}
    </ul>
  )
}

function WalletText({
  address,
  wallets,
}: {
  readonly address: string
  readonly wallets: readonly Wallet[] | undefined
}) {
  const name = wallets?.find((wallet) => wallet.address === address)?.name
  return name === undefined ? <CodeText text={address} isShort /> : <bdi>{name}</bdi>
}
