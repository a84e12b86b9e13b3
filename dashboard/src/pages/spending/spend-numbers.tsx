import type { Spending } from '@bursar/server/src/console/contract/overview.ts'
import { RoundedNumber } from '../../components/amount-text.tsx'
import { fromMicro, toMicro } from '../../format/amount.ts'
import { sumBar } from './spend-bars.ts'

interface SpendNumbersProps {
  readonly spending: Spending
  readonly timeText: (bar: number) => string
}

const CELL = 'px-2 py-1.5 first:pl-0 last:pr-0'
const HEAD = `${CELL} w-28 truncate text-right font-semibold`

/**
 * The numbers of the chart as a table, latest first. Bars without spending are left out. The total comes before the
 * agents, so that it is in sight on narrow screens, where the table scrolls sideways.
 */
export function SpendNumbers({ spending: { agents, bars_at }, timeText }: SpendNumbersProps) {
  const bars = bars_at.map((_, bar) => bar).filter((bar) => sumBar(agents, bar) > 0n)
  return (
    <div
      role="region"
      aria-label="Spending in numbers"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it can scroll, so it must be reachable by keyboard
      tabIndex={0}
      className="overflow-x-auto rounded-md"
    >
      <table className="w-full min-w-[38rem] table-fixed text-sm tabular-nums">
        <caption className="sr-only">USDC spent, by time and agent</caption>
        <thead className="text-left text-muted">
          <tr className="border-b border-line">
            <th scope="col" className={`${CELL} w-32 font-semibold`}>
              Time
            </th>
            <th scope="col" className={HEAD}>
              Total
            </th>
            {agents.map(({ agent_id }) => (
              <th key={agent_id ?? ''} scope="col" className={HEAD} title={agent_id ?? undefined}>
                {agent_id ?? 'All others'}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bars.toReversed().map((bar) => (
            <tr key={bars_at[bar]} className="border-b border-line last:border-0">
              <th scope="row" className={`${CELL} text-left font-normal`}>
                {timeText(bar)}
              </th>
              <td className={`${CELL} text-right font-semibold`}>
                <RoundedNumber usdc={fromMicro(sumBar(agents, bar))} />
              </td>
              {agents.map(({ agent_id, bars_usdc }) => (
                <td key={agent_id ?? ''} className={`${CELL} text-right`}>
                  {toMicro(bars_usdc[bar] ?? '0') === 0n ? '' : <RoundedNumber usdc={bars_usdc[bar] ?? '0'} />}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
