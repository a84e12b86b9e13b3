import { measureConnections } from './cases/connections.ts'
import { measureFairness } from './cases/fairness.ts'
import { measureOverload } from './cases/overload.ts'
import { measureProcess } from './cases/process.ts'
import { paymentSeries, readSeries } from './cases/reads.ts'
import type { Length } from './cases/requests.ts'
import { measureScale } from './cases/scale.ts'
import { tokenSeries } from './cases/tokens.ts'
import { webhookSeries } from './cases/webhooks.ts'
import { measureAll, type Series } from './measure.ts'
import { report, say, type Results } from './report.ts'
import { openWorld, type World } from './world.ts'

/**
 * `npm run bench [-- case sets]` measures the service, its floors and its peers in one run on one machine, and shows
 * them side by side. It uses only loopback and takes a limited time. `bench/README.md` explains the case sets and the
 * table.
 */
const TARGETS = 4_000
const ROUNDS = 5
const LENGTH: Length = { seconds: 3 }
/** The number of token requests in one round. */
const TOKENS = 3_000
/** The number of webhook deliveries in one round. */
const DELIVERIES = 5_000

interface CaseSet {
  readonly run: (world: World) => Promise<Results>
}

const CASE_SETS: Readonly<Record<string, CaseSet>> = {
  reads: { run: async (world) => await compare(world, await readSeries(world, LENGTH)) },
  payments: { run: async (world) => await compare(world, await paymentSeries(world, LENGTH)) },
  tokens: {
    run: async (world) => await compare(world, await tokenSeries(world, { amount: TOKENS, withPeer: true })),
  },
  webhooks: {
    run: async (world) => await compare(world, await webhookSeries(world, { amount: DELIVERIES })),
  },
  process: { run: measureProcess },
  fairness: { run: measureFairness },
  overload: { run: measureOverload },
  connections: { run: measureConnections },
}
const DEFAULT_SETS = ['reads', 'payments']

async function compare(world: World, series: readonly Series[]): Promise<Results> {
  return { series, measured: await measureAll(world, series, { rounds: ROUNDS, onRound: say }) }
}

/**
 * The case set that needs databases of its own: one for each size, which is a number of stored payments. Each argument
 * that is a number is a size in addition to `SCALE_SIZES`.
 */
const SCALE = 'scale'
const SCALE_SIZES = [0, 1_000_000]
const isSize = (name: string): boolean => /^\d+$/.test(name)

const given = process.argv.slice(2)
const named = given.filter((name) => !isSize(name))
const wanted = named.length > 0 ? named : DEFAULT_SETS
for (const name of wanted) {
  if (name !== SCALE && !Object.hasOwn(CASE_SETS, name)) {
    throw new Error(`there is no case set \`${name}\`; there are ${[...Object.keys(CASE_SETS), SCALE].join(', ')}`)
  }
}
for (const name of wanted) {
  say(`# ${name}`)
  if (name === SCALE) {
    await measureScale([...SCALE_SIZES, ...given.filter(isSize).map(Number)])
    continue
  }
  const world = await openWorld({ targets: TARGETS })
  try {
    const results = await CASE_SETS[name]?.run(world)
    if (results !== undefined) await report(name, results)
  } finally {
    await world.close()
  }
}
