import { runPurchases } from '../test/support/faults/run-purchases.ts'

/**
 * `npm run bench:purchases-faults [-- purchases kills servers seed]` buys from the sandbox's seller, which
 * behaves in a random way for each purchase, and kills the server with SIGKILL in between. It checks what each agent is
 * told. Afterwards it compares the chain with the database. It exits with code 1 if anything is wrong.
 */
const PURCHASES = 1_000
const KILLS = 20
const SEED = 20_261_122
const PURCHASES_PER_PAYER = 50
const VIOLATIONS_SHOWN = 20

const [purchases = PURCHASES, kills = KILLS, servers = 1, seed = SEED] = process.argv.slice(2).map(Number)
const started = performance.now()
const run = await runPurchases({
  purchases,
  kills,
  servers: servers === 2 ? 2 : 1,
  seed,
  payers: Math.max(2, Math.ceil(purchases / PURCHASES_PER_PAYER)),
  lanesPerPayer: 3,
})
const { violations, outcomes, told, ...counts } = run
say(`purchases under faults: ${purchases}, servers: ${servers}, seed: ${seed}`)
say(`counts: ${JSON.stringify(counts)}`)
say(`purchases by how they ended: ${JSON.stringify(outcomes)}`)
for (const [what, count] of Object.entries(told).toSorted(([one], [other]) => one.localeCompare(other)))
  say(`  ${String(count).padStart(5)}  ${what}`)
say(`violations: ${violations.length}`)
for (const violation of violations.slice(0, VIOLATIONS_SHOWN)) say(`  ${violation}`)
say(`duration: ${((performance.now() - started) / 1_000).toFixed(1)} s`)
process.exitCode = violations.length === 0 ? 0 : 1

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
