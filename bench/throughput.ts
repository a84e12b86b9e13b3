import { paymentSeries, readSeries } from './cases/reads.ts'
import type { Length } from './cases/requests.ts'
import { tokenSeries } from './cases/tokens.ts'
import { webhookSeries } from './cases/webhooks.ts'
import { runCheck } from './check.ts'
import { measureAll, type Series } from './measure.ts'
import { report, say } from './report.ts'
import { openWorld, type World } from './world.ts'

/**
 * `npm run bench [-- case sets]` measures the service, its floors and its peers in one run on one machine, and shows
 * them side by side. It uses only loopback and takes a limited time. `npm run bench:check` is a short form of it, for
 * continuous integration. `bench/README.md` explains both.
 */
const TARGETS = 4_000
const ROUNDS = 5
const LENGTH: Length = { seconds: 3 }
/** The number of token requests in one round. */
const TOKENS = 3_000
/** The number of webhook deliveries in one round. */
const DELIVERIES = 5_000

const CASE_SETS: Readonly<Record<string, (world: World) => Promise<readonly Series[]>>> = {
  reads: (world) => readSeries(world, LENGTH),
  payments: (world) => paymentSeries(world, LENGTH),
  tokens: (world) => tokenSeries(world, { amount: TOKENS, withPeer: true }),
  webhooks: (world) => webhookSeries(world, { amount: DELIVERIES }),
}
const DEFAULT_SETS = ['reads', 'payments']

const names = process.argv.slice(2)
if (names[0] === '--check') process.exitCode = (await runCheck()) ? 0 : 1
else for (const name of names.length > 0 ? names : DEFAULT_SETS) await measureSet(name)

async function measureSet(name: string): Promise<void> {
  const open = Object.hasOwn(CASE_SETS, name) ? CASE_SETS[name] : undefined
  if (open === undefined) {
    throw new Error(`there is no case set \`${name}\`; there are ${Object.keys(CASE_SETS).join(', ')}`)
  }
  say(`# ${name}`)
  const world = await openWorld({ targets: TARGETS })
  try {
    const series = await open(world)
    report(series, await measureAll(world, series, { rounds: ROUNDS, onRound: say }))
  } finally {
    await world.close()
  }
}
