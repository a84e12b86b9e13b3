import { runFaults, type FaultRun } from '../test/support/faults/run-faults.ts'

/**
 * `npm run bench:faults [-- payments share seed]` sends payments through the whole sandbox (real PostgreSQL, local
 * chains and local enclave). The enclave has faults: a given share of the sends fails in a random way, its reads are
 * out of date, its clock is wrong, and some transfers revert. Afterwards the command compares the chain with the
 * database. It exits with code 1 if anything is wrong.
 *
 * The local enclave uses its profile `fast`, so it responds faster than the real one. With the real timing, 10,000
 * payments would take about twice as long, because the service looks up at most 40 transactions a second at the
 * enclave.
 */
const PAYMENTS = 10_000
const SHARE = 0.2
const SEED = 20_261_122
const PAYMENTS_PER_KEY = 30
const VIOLATIONS_SHOWN = 20

const [payments = PAYMENTS, share = SHARE, seed = SEED] = process.argv.slice(2).map(Number)
const started = performance.now()
const run = await runFaults({
  payments,
  share,
  seed,
  wallets: 8,
  agentsPerWallet: 3,
  callers: 160,
  keys: Math.max(40, Math.ceil(payments / PAYMENTS_PER_KEY)),
  waves: payments < 1_000 ? 3 : 5,
  onProgress: (line) => say(`  ${line} (${formatSeconds(performance.now() - started)})`),
})
print(run)
process.exitCode = run.violations.length === 0 ? 0 : 1

function print({ report, evidence, faults, rounds, fullestWindowPercent, violations }: FaultRun): void {
  say(`bench:faults, ${payments} payments, share of faults ${share}, seed ${seed}, enclave profile fast`)
  say(`payments recorded: ${evidence.payments.length}; transfers on the chain: ${evidence.transfers.length}`)
  say(`retries with the same key: ${report.retries}; callers that gave up: ${report.abandoned}`)
  table('refused or failed requests, by code', Object.fromEntries(report.refusals))
  table('payments by final status', countBy(evidence.payments.map(({ status }) => status)))
  const failed = evidence.payments.filter(({ status }) => status === 'failed')
  table('failed, by code', countBy(failed.map(({ failureCode }) => String(failureCode))))
  const pending = evidence.payments.filter(({ status }) => status === 'pending')
  table('pending, by reason', countBy(pending.map(({ pendingReason }) => String(pendingReason))))
  const met = Object.values(faults).reduce((sum, count) => sum + count, 0)
  table(`faults met: ${met}, by kind`, faults)
  say(`fullest 24 hours of a cap: ${fullestWindowPercent} %`)
  say(`rounds until nothing changed: ${rounds}`)
  say(`violations: ${violations.length}`)
  table('by rule', countBy(violations.map(({ rule }) => rule)))
  for (const { rule, detail } of violations.slice(0, VIOLATIONS_SHOWN)) say(`  ${rule}: ${detail}`)
  say(`duration: ${formatSeconds(performance.now() - started)}`)
}

function table(title: string, counts: Readonly<Record<string, number>>): void {
  const rows = Object.entries(counts).sort(([, left], [, right]) => right - left)
  if (rows.length === 0) return
  say(title)
  for (const [name, count] of rows) say(`  ${name.padEnd(28)} ${String(count).padStart(6)}`)
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

function formatSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
