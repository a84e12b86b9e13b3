import { openRestoreFixture } from '../test/support/restore/restore-fixture.ts'
import { runRestore } from '../test/support/restore/run-restore.ts'

/**
 * `npm run bench:restore [-- payments lost clients seed variant]` makes payments of all kinds, restores the database as
 * it was before the last of them, and lets clients repeat all requests at once. Afterwards it compares the chain with
 * the answers and the database. It does so once for each variant: before and after the command `after-restore`, with the
 * server restarted or kept running, with the responses that the enclave stores kept and gone, and with repeated reference
 * ids that collide and that are allowed. The last argument is a part of the name of the variants to run. The command exits
 * with code 1 if anything is wrong.
 */
const PAYMENTS = 500
const LOST = 60
const CLIENTS = 20
const SEED = 20_261_127
const PAYMENTS_PER_BUYER = 50
const VIOLATIONS_SHOWN = 20

const WHEN = [
  { name: 'server restarted, before after-restore', isServerKept: false, isCommandRun: false },
  { name: 'server restarted, after after-restore', isServerKept: false, isCommandRun: true },
  { name: 'server kept', isServerKept: true, isCommandRun: false },
] as const

const [payments = PAYMENTS, lost = LOST, clients = CLIENTS, seed = SEED] = process.argv.slice(2, 6).map(Number)
const [only = ''] = process.argv.slice(6)
for (const when of WHEN) {
  for (const answers of ['kept', 'gone'] as const) {
    for (const references of ['collide', 'allow'] as const) {
      const name = `${when.name}, answers ${answers}, references ${references}`
      if (!name.includes(only)) continue
      const started = performance.now()
      const onProgress = (line: string): void => say(`  ${line} (${formatSeconds(performance.now() - started)})`)
      const fixture = await openRestoreFixture()
      try {
        const { counts, violations } = await runRestore(fixture, {
          groups: [{ answers, references, capped: ['transfer', 'unkeyed', 'purchase'] }],
          kept: payments - lost,
          buyers: Math.max(2, Math.ceil(payments / PAYMENTS_PER_BUYER)),
          ...{ lost, clients, seed, onProgress, ...when },
        })
        say(`${name}: ${violations.length} violations, ${JSON.stringify(counts)}`)
        for (const violation of violations.slice(0, VIOLATIONS_SHOWN)) say(`  ${violation}`)
        if (violations.length > 0) process.exitCode = 1
      } finally {
        await fixture.close()
      }
    }
  }
}

function formatSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
