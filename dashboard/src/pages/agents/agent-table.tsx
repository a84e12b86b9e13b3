import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { RoundedNumber } from '../../components/amount-text.tsx'
import type { Spendable } from '../../format/funds-text.ts'
import { AgentText } from '../workspace/agent-text.tsx'
import { WalletText } from '../workspace/wallet-text.tsx'
import { useSpendable } from '../workspace/use-spendable.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { AgentBadge } from './agent-badge.tsx'

/** All agents, with what remains of their 24-hour limits for each wallet. */
export function AgentTable({ agents }: { readonly agents: readonly Agent[] }) {
  const { to } = useWorkspace()
  const columns: readonly Column<Agent>[] = [
    {
      title: 'Agent',
      isLong: true,
      render: ({ id }) => <AgentText id={id} />,
    },
    { title: 'Status', render: ({ state }) => <AgentBadge state={state} /> },
    { title: 'Remaining (24 h)', render: (agent) => <Remaining agent={agent} /> },
    { title: 'Created', isSecondary: true, render: ({ created_at }) => <TimeText at={created_at} /> },
  ]
  return (
    <DataTable
      caption="Agents"
      columns={columns}
      items={agents}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => to('agents', id)}
    />
  )
}

const WALLETS_SHOWN_MAX = 3

function Left({ left }: { readonly left: Spendable }) {
  if (left.usdc === null) {
    return (
      <span className="text-muted">
        <span className="block">{left.text}</span>
        limit{' '}
      </span>
    )
  }
  return (
    <>
      <span className="font-semibold tabular-nums">
        <RoundedNumber usdc={left.usdc} />
      </span>
      <span className="text-muted">
        {' '}
        <span className="md:hidden">remaining </span>of{' '}
      </span>
    </>
  )
}

/** What the agent can still spend from each wallet: never more than the wallet has. */
function Remaining({ agent }: { readonly agent: Agent }) {
  const spendable = useSpendable()
  if (agent.wallets.length === 0) {
    return (
      <span className="text-muted max-md:sr-only">
        <span aria-hidden="true">–</span>
        <span className="sr-only">Nothing</span>
      </span>
    )
  }
  const shown = agent.wallets.slice(0, WALLETS_SHOWN_MAX)
  const more = agent.wallets.length - shown.length
  return (
    <ul className="grid gap-0.5">
      {shown.map(({ address, remaining_24h_usdc, daily_cap_usdc }) => (
        <li key={address}>
          <Left left={spendable(remaining_24h_usdc, address)} />
          <span className="text-muted">
            <RoundedNumber usdc={daily_cap_usdc} /> USDC from{' '}
            <span className="inline-block max-w-48 truncate align-bottom">
              <WalletText address={address} />
            </span>
          </span>
        </li>
      ))}
      {more > 0 && <li className="text-muted">and from {more === 1 ? '1 more wallet' : `${more} more wallets`}</li>}
    </ul>
  )
}
