import type { Overview } from '@bursar/server/src/console/contract/overview.ts'
import { formatAmount, fromMicro, toMicro } from '../../format/amount.ts'
import { sumBar } from './spend-bars.ts'

interface SpendNumbersProps {
  readonly overview: Overview
  readonly timeText: (bar: number) => string
}

const CELL = 'px-3 py-1.5 first:pl-0 last:pr-0'

/** The numbers of the chart as a table, latest first. Bars without spending are left out. */
export function SpendNumbers({ overview: { spend, bars_at }, timeText }: SpendNumbersProps) {
  const bars = bars_at.map((_, bar) => bar).filter((bar) => sumBar(spend, bar) > 0n)
  return (
    <div
      role="region"
      aria-label="Spending in numbers"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it can scroll, so it must be reachable by keyboard
      tabIndex={0}
      className="overflow-x-auto rounded-md"
    >
      <table className="w-max min-w-full text-sm whitespace-nowrap tabular-nums">
        <caption className="sr-only">USDC spent, by time and agent</caption>
        <thead className="text-left text-muted">
          <tr className="border-b border-line">
            <th scope="col" className={`${CELL} font-semibold`}>
              Time
            </th>
            {spend.map(({ agent_id }) => (
              <th
                key={agent_id ?? ''}
                scope="col"
                className={`${CELL} max-w-56 truncate text-right font-semibold`}
                title={agent_id ?? undefined}
              >
                {agent_id ?? 'All others'}
              </th>
            ))}
            <th scope="col" className={`${CELL} text-right font-semibold`}>
              Total
            </th>
          </tr>
        </thead>
        <tbody>
          {bars.toReversed().map((bar) => (
            <tr key={bars_at[bar]} className="border-b border-line last:border-0">
              <th scope="row" className={`${CELL} text-left font-normal`}>
                {timeText(bar)}
              </th>
              {spend.map(({ agent_id, bars_usdc }) => (
                <td key={agent_id ?? ''} className={`${CELL} text-right`}>
                  {toMicro(bars_usdc[bar] ?? '0') === 0n ? '' : formatAmount(bars_usdc[bar] ?? '0')}
                </td>
              ))}
              <td className={`${CELL} text-right font-semibold`}>{formatAmount(fromMicro(sumBar(spend, bar)))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
