/** The steps of an axis: 1, 2 or 5, and noughts. */
const NICE = [1n, 2n, 5n] as const
const STEPS_MAX = 4n

export interface Scale {
  /** The value at the top of the chart, never below the highest bar; at least one step. */
  readonly topMicro: bigint
  readonly stepMicro: bigint
}

/** An axis from 0 on with at most four even steps. */
export function chooseScale(highestMicro: bigint): Scale {
  let power = 1n
  for (;;) {
    for (const nice of NICE) {
      const stepMicro = nice * power
      const steps = (highestMicro + stepMicro - 1n) / stepMicro
      if (steps <= STEPS_MAX) return { topMicro: (steps < 1n ? 1n : steps) * stepMicro, stepMicro }
    }
    power *= 10n
  }
}

/** The values of an axis, the highest first, 0 last. */
export function listSteps({ topMicro, stepMicro }: Scale): readonly bigint[] {
  return Array.from({ length: Number(topMicro / stepMicro) + 1 }, (_, index) => topMicro - BigInt(index) * stepMicro)
}

/** How much of the chart's height that is, in per cent, for drawing only. */
export function toPercent(micro: bigint, { topMicro }: Scale): number {
  return Number((micro * 100_000n) / topMicro) / 1_000
}

const ONE = 1_000_000n
const UNITS = [
  { from: 1_000_000_000_000n * ONE, letter: 'T' },
  { from: 1_000_000_000n * ONE, letter: 'B' },
  { from: 1_000_000n * ONE, letter: 'M' },
  { from: 1_000n * ONE, letter: 'k' },
] as const
const SHORTENED_FROM = 10_000n * ONE

/** A value of an axis in few letters: `0.05`, `2,500`, `15k`, `1.5M`. For round values only. */
export function formatStep(micro: bigint): string {
  const unit = micro < SHORTENED_FROM ? undefined : UNITS.find(({ from }) => micro >= from)
  if (unit !== undefined) return `${formatDecimal(micro, unit.from)}${unit.letter}`
  return formatDecimal(micro, ONE).replaceAll(/\B(?=(\d{3})+(?!\d)(?<!\.\d*))/g, ',')
}

function formatDecimal(micro: bigint, one: bigint): string {
  const fraction = (micro % one)
    .toString()
    .padStart(one.toString().length - 1, '0')
    .replace(/0+$/, '')
  return fraction === '' ? String(micro / one) : `${micro / one}.${fraction}`
}
