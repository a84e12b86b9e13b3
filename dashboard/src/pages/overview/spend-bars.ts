import type { Overview } from '@bursar/server/src/console/contract/overview.ts'
import { toMicro } from '../../format/amount.ts'
import { chooseScale, toPercent, type Scale } from '../../format/chart-scale.ts'

export interface Segment {
  /** Which of the overview's spenders it is of. */
  readonly series: number
  /** In per cent of the chart's height, from its top on. */
  readonly top: number
  readonly height: number
}

/** What all agents together spent in one bar's time. */
export function sumBar(spend: Overview['spend'], bar: number): bigint {
  return spend.reduce((sum, { bars_usdc }) => sum + toMicro(bars_usdc[bar] ?? '0'), 0n)
}

/** The axis of a time in which nothing was spent. */
const EMPTY_TOP_MICRO = 1_000_000n

export function scaleOf({ spend, bars_at }: Pick<Overview, 'spend' | 'bars_at'>): Scale {
  const sums = bars_at.map((_, bar) => sumBar(spend, bar))
  const highest = sums.reduce((first, second) => (first > second ? first : second), 0n)
  return chooseScale(highest === 0n ? EMPTY_TOP_MICRO : highest)
}

/** The parts of a bar, who spent most in the range at the bottom. */
export function stackBar(spend: Overview['spend'], bar: number, scale: Scale): readonly Segment[] {
  const segments: Segment[] = []
  let below = 0n
  for (const [series, { bars_usdc }] of spend.entries()) {
    const micro = toMicro(bars_usdc[bar] ?? '0')
    if (micro === 0n) continue
    const height = toPercent(micro, scale)
    segments.push({ series, top: 100 - toPercent(below, scale) - height, height })
    below += micro
  }
  return segments
}

/** When a bar begins and ends, in ISO 8601. */
export function spanOf({ bars_at, bar_seconds }: Pick<Overview, 'bars_at' | 'bar_seconds'>, bar: number) {
  const from = bars_at[bar] ?? ''
  return { from, to: new Date(new Date(from).getTime() + bar_seconds * 1_000).toISOString() }
}
