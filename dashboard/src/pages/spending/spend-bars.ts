import type { Spending } from '@bursar/server/src/console/contract/overview.ts'
import { toMicro } from '../../format/amount.ts'
import { chooseScale, toPercent, type Scale } from '../../format/chart-scale.ts'

type Agents = readonly Pick<Spending['agents'][number], 'bars_usdc'>[]

export interface Segment {
  /** The index of the agent in `agents`. */
  readonly series: number
  /** The segment's upper edge, in percent of the chart's height, measured from the top of the chart. */
  readonly top: number
  readonly height: number
}

/** The total of all agents in one bar. */
export function sumBar(agents: Agents, bar: number): bigint {
  return agents.reduce((sum, { bars_usdc }) => sum + toMicro(bars_usdc[bar] ?? '0'), 0n)
}

/** The top of the axis if nothing was spent. */
const EMPTY_TOP_MICRO = 1_000_000n

export function chooseSpendScale(agents: Agents, bars: number): Scale {
  const sums = Array.from({ length: bars }, (_, bar) => sumBar(agents, bar))
  const highest = sums.reduce((first, second) => (first > second ? first : second), 0n)
  return chooseScale(highest === 0n ? EMPTY_TOP_MICRO : highest)
}

/** The segments of a bar. The agent that spent most in the period is at the bottom. */
export function stackBar(agents: Agents, bar: number, scale: Scale): readonly Segment[] {
  const segments: Segment[] = []
  let below = 0n
  for (const [series, { bars_usdc }] of agents.entries()) {
    const micro = toMicro(bars_usdc[bar] ?? '0')
    if (micro === 0n) continue
    const height = toPercent(micro, scale)
    segments.push({ series, top: 100 - toPercent(below, scale) - height, height })
    below += micro
  }
  return segments
}

/** The start and end time of a bar, in ISO 8601. */
export function barSpan({ bars_at, end }: Pick<Spending, 'bars_at' | 'end'>, bar: number) {
  return { from: bars_at[bar] ?? '', to: bars_at[bar + 1] ?? end }
}
