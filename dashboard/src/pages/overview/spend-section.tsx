import { useId, useState } from 'react'
import type { Overview } from '@bursar/server/src/console/contract/overview.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { Disclosure } from '../../components/disclosure.tsx'
import { formatAmount, fromMicro, toMicro } from '../../format/amount.ts'
import { formatSpan } from '../../format/date.ts'
import { barSpan, sumBar } from './spend-bars.ts'
import { RANGE_TEXTS } from './range-texts.ts'
import { SpendChart } from './spend-chart.tsx'
import { SpendNumbers } from './spend-numbers.tsx'
import { Link } from 'react-router'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { seriesColor } from './series-color.ts'

interface SpendLegendProps {
  readonly spend: Overview['spend']
  /** The selected bar. Its amounts are shown instead of the totals of the range. */
  readonly bar: number | null
}

/** Spending in total and by agent. While a bar is selected, all numbers are for that bar. */
export function SpendSection({ overview }: { readonly overview: Overview }) {
  const id = useId()
  const [picked, setPicked] = useState<number | null>(null)
  const { spend, spent_usdc, withdrawn_usdc, range } = overview
  // After a change of range there may be fewer bars.
  const bar = picked !== null && picked < overview.bars_at.length ? picked : null
  const timeText = (of: number) => {
    const { from, to } = barSpan(overview, of)
    return formatSpan(from, to)
  }
  const describe = (of: number) =>
    [`${timeText(of)}: ${formatAmount(fromMicro(sumBar(spend, of)))} USDC`, ...describeSpenders(spend, of)].join('; ')

  return (
    <section
      aria-labelledby={id}
      className="grid grid-cols-1 gap-5 rounded-xl border border-line bg-surface p-4 sm:p-6"
    >
      <div>
        <h2 id={id} className="text-sm font-semibold text-muted">
          Spent {bar === null ? `in the ${RANGE_TEXTS[range]}` : timeText(bar)}
        </h2>
        <p className="text-2xl font-bold tracking-tight *:whitespace-normal sm:text-3xl">
          <AmountText usdc={bar === null ? spent_usdc : fromMicro(sumBar(spend, bar))} />
        </p>
        {bar === null && toMicro(withdrawn_usdc) > 0n && (
          <p className="text-sm text-muted">
            Owners withdrew another <AmountText usdc={withdrawn_usdc} />.
          </p>
        )}
      </div>
      <div className="relative">
        <SpendChart overview={overview} picked={bar} onPick={setPicked} describe={describe} />
        {spend.length === 0 && (
          <p className="pointer-events-none absolute inset-x-0 top-24 text-center text-muted">
            <span className="bg-surface px-3">No spending in this period.</span>
          </p>
        )}
      </div>
      {spend.length > 0 && (
        <>
          <SpendLegend spend={spend} bar={bar} />
          <Disclosure summary="Show numbers">
            <SpendNumbers overview={overview} timeText={timeText} />
          </Disclosure>
        </>
      )}
    </section>
  )
}

function describeSpenders(spend: Overview['spend'], bar: number): readonly string[] {
  return spend
    .filter(({ bars_usdc }) => toMicro(bars_usdc[bar] ?? '0') > 0n)
    .map(({ agent_id, bars_usdc }) => `${agent_id ?? 'all others'} ${formatAmount(bars_usdc[bar] ?? '0')}`)
}

/** The colour and amount of each agent, with links to the agents. */
function SpendLegend({ spend, bar }: SpendLegendProps) {
  const { to } = useWorkspace()
  return (
    <ul aria-label="Agents" className="-mx-2 grid grid-cols-1 gap-x-6 sm:grid-cols-2">
      {spend.map(({ agent_id, total_usdc, bars_usdc }, rank) => (
        <li key={agent_id ?? ''}>
          <Link
            to={agent_id === null ? to('agents') : to('agents', agent_id)}
            className="flex min-h-9 items-center gap-2.5 rounded-md px-2 py-1 text-[0.9375rem] hover:bg-sunken"
          >
            <span aria-hidden="true" className={`size-2.5 shrink-0 rounded-xs ${seriesColor(agent_id, rank).ground}`} />
            <bdi className="min-w-0 flex-1 truncate">{agent_id ?? 'All others'}</bdi>
            <AmountText usdc={bar === null ? total_usdc : (bars_usdc[bar] ?? '0')} />
          </Link>
        </li>
      ))}
    </ul>
  )
}
