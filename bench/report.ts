import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Measured, Round, Series } from './measure.ts'
import { median } from './statistics.ts'

export const RESULTS = fileURLToPath(new URL('./results/', import.meta.url))

/** A figure that is not a rate, such as a time or a size. */
export interface Figure {
  readonly name: string
  readonly unit: 'ms' | 'µs' | 'MiB' | 'ratio' | 'connections'
  readonly values: readonly number[]
  /** The same figure of the floor. */
  readonly floor?: readonly number[]
  readonly aim?: string
}

/** What one case set measured. */
export interface Results {
  readonly series?: readonly Series[]
  readonly measured?: Measured
  readonly figures?: readonly Figure[]
}

/** Prints the table of a case set, and writes everything that was measured to `bench/results/<case set>.json`. */
export async function report(caseSet: string, results: Results): Promise<void> {
  const { series = [], measured = new Map<string, Round[]>(), figures = [] } = results
  if (series.length > 0) printSeries(series, measured)
  if (figures.length > 0) printFigures(figures)
  const rows = series.map(({ name, kind, floors, peer, aim }) => {
    return { name, kind, floors, peer, aim, rounds: measured.get(name) ?? [] }
  })
  await mkdir(RESULTS, { recursive: true })
  const file = `${RESULTS}${caseSet}.json`
  await writeFile(file, `${JSON.stringify({ caseSet, ...describeRun(), series: rows, figures }, null, 2)}\n`)
  say(`\nwritten to bench/results/${caseSet}.json\n`)
}

/** What a reader must know to compare results: the machine, the commit and the time. */
export function describeRun() {
  return { date: new Date().toISOString(), commit: readCommit(), machine: describeMachine() }
}

export function describeMachine() {
  const processors = cpus()
  return {
    processor: processors[0]?.model.trim() ?? 'unknown',
    processors: processors.length,
    memoryMiB: Math.round(totalmem() / 2 ** 20),
    system: `${process.platform} ${release()}`,
    node: process.version,
    /** How many processes wanted a processor at the end of the run, on average over 1, 5 and 15 minutes. */
    load: loadavg().map((value) => Number(value.toFixed(2))),
  }
}

function readCommit(): string {
  try {
    const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim()
    return `${git('rev-parse', 'HEAD')}${git('status', '--porcelain') === '' ? '' : ' with changes'}`
  } catch {
    return 'unknown'
  }
}

function printSeries(series: readonly Series[], measured: Measured): void {
  say('')
  say(
    '| | requests/s (median, min to max) | p50 ms | p99 ms | of its floor, in rate | processor time of a request, µs: service + PostgreSQL | of its floor, in processor time | aim |',
  )
  say('| --- | --- | --- | --- | --- | --- | --- | --- |')
  for (const { name, floors = [], peer, aim } of series) {
    const rounds = measured.get(name) ?? []
    const others = [...floors, ...(peer === undefined ? [] : [peer])]
    const compare = (read: (ours: Round, other: Round) => number): string =>
      others.map((other) => `${formatSpread(ratios(rounds, measured.get(other) ?? [], read), 2)} (${other})`).join('; ')
    const failed = rounds.reduce((sum, round) => sum + round.failed, 0)
    const cells = [
      `${name}${failed === 0 ? '' : ` (${failed} failed)`}`,
      formatSpread(
        rounds.map((round) => round.perSecond),
        0,
      ),
      formatSpread(
        rounds.map((round) => round.p50Ms),
        0,
      ),
      formatSpread(
        rounds.map((round) => round.p99Ms),
        0,
      ),
      compare((ours, other) => ours.perSecond / other.perSecond),
      `${formatSpread(
        rounds.map((round) => round.serverUs ?? Number.NaN),
        0,
      )} + ${formatSpread(
        rounds.map((round) => round.databaseUs ?? Number.NaN),
        0,
      )}`,
      compare((ours, other) => costOf(other) / costOf(ours)),
      aim ?? '',
    ]
    say(`| ${cells.join(' | ')} |`)
  }
}

function printFigures(figures: readonly Figure[]): void {
  say('')
  say('| | median (min to max) | floor | aim |')
  say('| --- | --- | --- | --- |')
  for (const { name, unit, values, floor, aim } of figures) {
    const digits = unit === 'ratio' ? 2 : 0
    const suffix = unit === 'ratio' ? '' : ` ${unit}`
    const floorText = floor === undefined ? '' : formatSpread(floor, digits) + suffix
    say(`| ${name} | ${formatSpread(values, digits)}${suffix} | ${floorText} | ${aim ?? ''} |`)
  }
}

/** Returns the processor time of a request in the service and in PostgreSQL together, in microseconds. */
export function costOf({ serverUs, databaseUs }: Round): number {
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

function formatSpread(values: readonly number[], digits: number): string {
  if (values.length === 0 || values.some(Number.isNaN)) return 'unknown'
  const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)].map((value) =>
    value.toFixed(digits),
  )
  return least === most ? `${middle}` : `${middle} (${least} to ${most})`
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
