import { runFaults } from '../test/support/faults/run-faults.ts'
import { runPurchases } from '../test/support/faults/run-purchases.ts'
import { openRestoreFixture } from '../test/support/restore/restore-fixture.ts'
import { runRestore } from '../test/support/restore/run-restore.ts'

/**
 * `npm run bench:faults [-- kind numbers]` runs the whole sandbox (real PostgreSQL, local chains and local enclave)
 * under faults, and compares the chain with the database and with what the callers were told. It exits with code 1 if
 * anything is wrong. The kinds, each with its numbers:
 *
 * - `payments [payments share seed]`: a share of the sends to the enclave fails in a random way, its reads are out of
 *   date, its clock is wrong, and some transfers revert.
 * - `purchases [purchases kills servers seed]`: the seller behaves in a random way, and the server is killed with
 *   SIGKILL.
 * - `restore [payments lost clients seed]`: the database is restored as it was before the last payments, and clients
 *   repeat all requests at once. It does so before and after the command `after-restore`, with the server restarted or
 *   kept running, with the responses that the enclave stores kept and gone, and with repeated reference ids that collide
 *   and that are allowed.
 *
 * Without a kind, all of them run. The local enclave uses its profile `fast`. With the timing of the real one, 10,000
 * payments would take about twice as long.
 */
const KINDS = { payments: faultPayments, purchases: killPurchases, restore: restoreDatabase }
const SEED = 20_261_122
const PAYMENTS_PER_KEY = 30
const PURCHASES_PER_PAYER = 50
const VIOLATIONS_SHOWN = 20

const [kind, ...given] = process.argv.slice(2)
const numbers = given.map(Number)
const started = performance.now()
for (const [name, run] of Object.entries(KINDS)) if (kind === undefined || kind === name) await run(numbers)
if (kind !== undefined && !Object.hasOwn(KINDS, kind)) throw new Error(`the kinds are ${Object.keys(KINDS).join(', ')}`)

async function faultPayments([payments = 10_000, share = 0.2, seed = SEED]: readonly number[]): Promise<void> {
  say(`payments: ${payments}, share of faults ${share}, seed ${seed}`)
  const { report, evidence, faults, rounds, fullestWindowPercent, violations } = await runFaults({
    payments,
    share,
    seed,
    wallets: 8,
    agentsPerWallet: 3,
    callers: 160,
    keys: Math.max(40, Math.ceil(payments / PAYMENTS_PER_KEY)),
    waves: payments < 1_000 ? 3 : 5,
    onProgress,
  })
  const recorded = evidence.payments
  say(`payments recorded: ${recorded.length}; transfers on the chain: ${evidence.transfers.length}`)
  say(`retries with the same key: ${report.retries}; callers that gave up: ${report.abandoned}`)
  table('refused or failed requests, by code', Object.fromEntries(report.refusals))
  table('payments, by status', countBy(recorded.map(({ status }) => status)))
  table(
    'failed, by code',
    countBy(recorded.flatMap((one) => (one.status === 'failed' ? [String(one.failureCode)] : []))),
  )
  table(
    'pending, by reason',
    countBy(recorded.flatMap((one) => (one.status === 'pending' ? [String(one.pendingReason)] : []))),
  )
  table('faults met, by kind', faults)
  say(`fullest 24 hours of a limit: ${fullestWindowPercent} %; rounds until nothing changed: ${rounds}`)
  conclude(violations.map(({ rule, detail }) => `${rule}: ${detail}`))
}

async function killPurchases([purchases = 1_000, kills = 20, servers = 1, seed = SEED]: readonly number[]) {
  say(`purchases: ${purchases}, kills ${kills}, servers ${servers}, seed ${seed}`)
  const { violations, outcomes, told, ...counts } = await runPurchases({
    purchases,
    kills,
    servers: servers === 2 ? 2 : 1,
    seed,
    payers: Math.max(2, Math.ceil(purchases / PURCHASES_PER_PAYER)),
    lanesPerPayer: 3,
  })
  say(`counts: ${JSON.stringify(counts)}`)
  table('purchases, by how they ended', outcomes)
  table('what agents were told', told)
  conclude(violations)
}

async function restoreDatabase([payments = 500, lost = 60, clients = 20, seed = SEED]: readonly number[]) {
  const times = [
    { time: 'server restarted, before after-restore', isServerKept: false, isCommandRun: false },
    { time: 'server restarted, after after-restore', isServerKept: false, isCommandRun: true },
    { time: 'server kept', isServerKept: true, isCommandRun: false },
  ] as const
  for (const { time, ...when } of times) {
    for (const answers of ['kept', 'gone'] as const) {
      for (const references of ['collide', 'allow'] as const) {
        say(`restore: ${payments} payments, ${lost} lost, ${time}, answers ${answers}, references ${references}`)
        const fixture = await openRestoreFixture()
        try {
          const { counts, violations } = await runRestore(fixture, {
            groups: [{ answers, references, capped: ['transfer', 'unkeyed', 'purchase'] }],
            kept: payments - lost,
            buyers: Math.max(2, Math.ceil(payments / PURCHASES_PER_PAYER)),
            ...{ lost, clients, seed, onProgress, ...when },
          })
          say(`counts: ${JSON.stringify(counts)}`)
          conclude(violations)
        } finally {
          await fixture.close()
        }
      }
    }
  }
}

function conclude(violations: readonly string[]): void {
  say(`violations: ${violations.length} (${seconds()})`)
  for (const violation of violations.slice(0, VIOLATIONS_SHOWN)) say(`  ${violation}`)
  if (violations.length > 0) process.exitCode = 1
}

function table(title: string, counts: Readonly<Record<string, number>>): void {
  const rows = Object.entries(counts).sort(([, left], [, right]) => right - left)
  if (rows.length > 0) say(title)
  for (const [name, count] of rows) say(`  ${String(count).padStart(6)}  ${name}`)
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

function onProgress(line: string): void {
  say(`  ${line} (${seconds()})`)
}

function seconds(): string {
  return `${((performance.now() - started) / 1_000).toFixed(1)} s`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
