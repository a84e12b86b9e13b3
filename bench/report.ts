import type { Measured, Round, Series } from './measure.ts'
import { describeMachine } from './record.ts'
import { median } from './statistics.ts'

const COLUMNS = [
  '',
  'requests/s (median, min to max)',
  'p50 ms',
  'p99 ms',
  'of its floor, in rate',
  'processor time of a request, µs: service + PostgreSQL',
  'of its floor, in processor time',
  'aim',
]

/** Prints the table of a case set, and the machine on which it was measured. `bench/README.md` explains the columns. */
export function report(series: readonly Series[], measured: Measured): void {
  say(`\n| ${COLUMNS.join(' | ')} |\n|${' --- |'.repeat(COLUMNS.length)}`)
  for (const { name, floors = [], peer, aim } of series) {
    const rounds = measured.get(name) ?? []
    const spread = (read: (round: Round) => number): string => formatSpread(rounds.map(read), 0)
    const others = [...floors, ...(peer === undefined ? [] : [peer])]
    const compare = (read: (ours: Round, other: Round) => number): string =>
      others.map((other) => `${formatSpread(ratios(rounds, measured.get(other) ?? [], read), 2)} (${other})`).join('; ')
    const failed = rounds.reduce((sum, round) => sum + round.failed, 0)
    const cells = [
      `${name}${failed === 0 ? '' : ` (${failed} failed)`}`,
      spread((round) => round.perSecond),
      spread((round) => round.p50Ms),
      spread((round) => round.p99Ms),
      compare((ours, other) => ours.perSecond / other.perSecond),
      `${spread((round) => round.serverUs ?? Number.NaN)} + ${spread((round) => round.databaseUs ?? Number.NaN)}`,
      compare((ours, other) => costOf(other) / costOf(ours)),
      aim ?? '',
    ]
    say(`| ${cells.join(' | ')} |`)
  }
  const { processor, processors, load } = describeMachine()
  say(`\n${processors} processors (${processor}), load average ${load[0]} in the last minute\n`)
}

/** Returns the processor time of a request in the service and in PostgreSQL together, in microseconds. */
function costOf({ serverUs, databaseUs }: Round): number {
  return (serverUs ?? Number.NaN) + (databaseUs ?? Number.NaN)
}

/** Compares each round with the other series' round of the same number. */
function ratios(
  ours: readonly Round[],
  others: readonly Round[],
  read: (ours: Round, other: Round) => number,
): number[] {
  return ours.flatMap((round, index) => {
    const other = others[index]
    return other === undefined ? [] : [read(round, other)]
  })
}

/** Formats the middle of the values, and the lowest and highest one. */
export function formatSpread(values: readonly number[], digits: number): string {
  if (values.length === 0 || values.some(Number.isNaN)) return 'unknown'
  const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)].map((value) =>
    value.toFixed(digits),
  )
  return least === most ? `${middle}` : `${middle} (${least} to ${most})`
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
