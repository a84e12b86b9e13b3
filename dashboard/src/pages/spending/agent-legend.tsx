import { Link } from 'react-router'
import type { Spending } from '@bursar/server/src/console/contract/overview.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { AgentLabelText } from '../workspace/agent-text.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { toSearch, type Choice } from './period.ts'
import { seriesColor } from './series-color.ts'

interface AgentLegendProps {
  readonly agents: Spending['agents']
  /** The selected bar. Its amounts are shown instead of the totals of the period. */
  readonly bar: number | null
  /** The period that the links open. */
  readonly choice: Choice
}

/** The colour and amount of each agent, in the order of the bars' segments, with links to the agents. */
export function AgentLegend({ agents, bar, choice }: AgentLegendProps) {
  const { to } = useWorkspace()
  return (
    <ul aria-label="Agents" className="-mx-2 grid grid-cols-1 gap-x-6 sm:grid-cols-2">
      {agents.map(({ agent_id, color, total_usdc, bars_usdc }) => (
        <li key={agent_id ?? ''}>
          <Link
            to={agent_id === null ? to('agents') : to('agents', agent_id) + toSearch({ ...choice, by: 'agent' })}
            className="flex min-h-9 items-center gap-2.5 rounded-md px-2 py-1 text-[0.9375rem] hover:bg-sunken"
          >
            <span aria-hidden="true" className={`size-2.5 shrink-0 rounded-xs ${seriesColor(color).ground}`} />
            <span className="min-w-0 flex-1 truncate">
              <bdi>{agent_id ?? 'All others'}</bdi>
              {agent_id !== null && <AgentLabelText id={agent_id} />}
            </span>
            <AmountText isRounded usdc={bar === null ? total_usdc : (bars_usdc[bar] ?? '0')} />
          </Link>
        </li>
      ))}
    </ul>
  )
}
