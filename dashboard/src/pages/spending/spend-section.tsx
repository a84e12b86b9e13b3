import { useId, useState } from 'react'
import type { Spending } from '@bursar/server/src/console/contract/overview.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { Disclosure } from '../../components/disclosure.tsx'
import { formatAmount, fromMicro, toMicro } from '../../format/amount.ts'
import { formatDate, formatDays, formatSpan } from '../../format/date.ts'
import { AgentLegend } from './agent-legend.tsx'
import { changeText, periodText, type Choice } from './period.ts'
import { barSpan, sumBar } from './spend-bars.ts'
import { SpendChart } from './spend-chart.tsx'
import { SpendNumbers } from './spend-numbers.tsx'

interface SpendSectionProps {
  readonly spending: Spending
  /** Whose spending it is, if it is not that of all agents. */
  readonly agentId?: string
  /** The period that the links to agents open. */
  readonly choice?: Choice
}

/** What was spent in a period, with a chart. While a bar is selected, all numbers are for that bar. */
export function SpendSection({ spending, agentId, choice }: SpendSectionProps) {
  const id = useId()
  const [picked, setPicked] = useState<number | null>(null)
  const { agents, bars_at, spent_usdc, withdrawn_usdc } = spending
  // After a change of the period there may be fewer bars.
  const bar = picked !== null && picked < bars_at.length ? picked : null
  const isHourly = spending.days.from === spending.days.to
  const timeText = (of: number) => {
    const { from, to } = barSpan(spending, of)
    return isHourly ? formatSpan(from, to) : formatDate(from)
  }
  const describe = (of: number) =>
    [`${timeText(of)}: ${formatAmount(fromMicro(sumBar(agents, of)))} USDC`, ...describeSpenders(agents, of)].join('; ')

  return (
    <section
      aria-labelledby={id}
      className="grid grid-cols-1 gap-5 rounded-xl border border-line bg-surface p-4 sm:p-6"
    >
      <div>
        <h2 id={id} className="text-sm font-semibold text-muted">
          Spent {bar === null ? `${periodText(spending.period)} (${formatDays(spending.days)})` : timeText(bar)}
        </h2>
        <p className="text-2xl font-bold tracking-tight *:whitespace-normal sm:text-3xl">
          <AmountText isRounded usdc={bar === null ? spent_usdc : fromMicro(sumBar(agents, bar))} />
        </p>
        {bar === null && <Comparison spending={spending} />}
        {bar === null && agentId === undefined && toMicro(withdrawn_usdc) > 0n && (
          <p className="text-sm text-muted">
            Owners withdrew another <AmountText isRounded usdc={withdrawn_usdc} />.
          </p>
        )}
      </div>
      <div className="relative">
        <SpendChart spending={spending} picked={bar} onPick={setPicked} describe={describe} />
        {agents.length === 0 && (
          <p className="pointer-events-none absolute inset-x-0 top-24 text-center text-muted">
            <span className="bg-surface px-3">No spending in this period.</span>
          </p>
        )}
      </div>
      {agents.length > 0 && (
        <>
          {choice !== undefined && <AgentLegend agents={agents} bar={bar} choice={choice} />}
          <Disclosure summary="Show numbers">
            <SpendNumbers spending={spending} timeText={timeText} />
          </Disclosure>
        </>
      )}
    </section>
  )
}

/** What was spent in the period before, and what of this period is still pending. */
function Comparison({ spending }: Pick<SpendSectionProps, 'spending'>) {
  const { spent_usdc, previous_usdc, previous_days, pending_usdc } = spending
  const change = changeText(toMicro(spent_usdc), toMicro(previous_usdc))
  return (
    <p className="text-sm text-muted">
      <AmountText isRounded usdc={previous_usdc} /> in the same time before ({formatDays(previous_days)})
      {change !== null && <span className="font-semibold text-ink"> {change}</span>}
      {toMicro(pending_usdc) > 0n && (
        <>
          . <AmountText isRounded usdc={pending_usdc} /> of the current amount is pending
        </>
      )}
    </p>
  )
}

function describeSpenders(agents: Spending['agents'], bar: number): readonly string[] {
  return agents
    .filter(({ bars_usdc }) => toMicro(bars_usdc[bar] ?? '0') > 0n)
    .map(({ agent_id, bars_usdc }) => `${agent_id ?? 'all others'} ${formatAmount(bars_usdc[bar] ?? '0')}`)
}
