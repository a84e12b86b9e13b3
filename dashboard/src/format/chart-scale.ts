/** Axis steps are these numbers times a power of ten. */
const STEP_FACTORS = [1n, 2n, 5n] as const
const STEPS_MAX = 4n

export interface Scale {
  /** The value at the top of the chart. At least one step, and at least the highest bar. */
  readonly topMicro: bigint
  readonly stepMicro: bigint
}

/** Chooses an axis that starts at 0 and has at most four equal steps. */
export function chooseScale(highestMicro: bigint): Scale {
  let power = 1n
  for (;;) {
    for (const factor of STEP_FACTORS) {
      const stepMicro = factor * power
      const steps = (highestMicro + stepMicro - 1n) / stepMicro
      if (steps <= STEPS_MAX) return { topMicro: (steps < 1n ? 1n : steps) * stepMicro, stepMicro }
    }
    power *= 10n
  }
}

/** The values of the axis labels, from the highest down to 0. */
export function listSteps({ topMicro, stepMicro }: Scale): readonly bigint[] {
  return Array.from({ length: Number(topMicro / stepMicro) + 1 }, (_, index) => topMicro - BigInt(index) * stepMicro)
}

/** A value as a percentage of the chart height. For drawing only. */
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

/** A short axis label: `0.05`, `2,500`, `15k`, `1.5M`. For round values only. */
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
