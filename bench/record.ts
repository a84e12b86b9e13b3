import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { cpus, loadavg, release, totalmem } from 'node:os'
import type { RecordedCosts } from './check-decision.ts'
import type { RecordedCounts } from './count-decision.ts'

/** What `bench:counts` and `bench:check` compare with. Each of them records its own part. */
export interface BenchRecord {
  readonly counts: { readonly cases: RecordedCounts }
  readonly costs: RecordedCosts
}

const FILE = new URL('./recorded.json', import.meta.url)

export async function readRecord(): Promise<BenchRecord> {
  return JSON.parse(await readFile(FILE, 'utf8')) as BenchRecord
}

/** Replaces one part of the record, with the machine, the commit and the time at which it was measured. */
export async function writeRecord<Part extends keyof BenchRecord>(
  part: Part,
  cases: BenchRecord[Part]['cases'],
): Promise<void> {
  const run = { date: new Date().toISOString(), commit: readCommit(), machine: describeMachine() }
  const changed = { ...(await readRecord()), [part]: { ...run, cases } }
  await writeFile(FILE, `${JSON.stringify(changed, null, 2)}\n`)
}

export function describeMachine() {
  const processors = cpus()
  return {
    processor: processors[0]?.model.trim() ?? 'unknown',
    processors: processors.length,
    memoryMiB: Math.round(totalmem() / 2 ** 20),
    system: `${process.platform} ${release()}`,
    node: process.version,
    /** How many processes wanted a processor, on average over the last 1, 5 and 15 minutes. */
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
