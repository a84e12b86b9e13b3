import { measureAll, sendLoad, type Series } from '../measure.ts'
import { report, say } from '../report.ts'
import { chooseTargets, generateScale } from '../generate-scale.ts'
import { seedKeys } from '../seed-keys.ts'
import { openWorld, type Endpoint, type World } from '../world.ts'
import { paymentSeries, readSeries } from './reads.ts'
import { postPayment, shareOrders, type Length } from './requests.ts'

const TARGETS = 4_000
const AGENTS = 100_000
const PENDING = 100_000
const BUSY_PAYMENTS = 43_200
const BUSY_KEYS = 1_000
const PROCESSES = [1, 2, 4] as const
const LENGTH: Length = { seconds: 3 }
const ROUNDS = 3

/**
 * Measures reads and payments at each size of the database. A size is a number of stored payments. The first size is
 * also measured with several servers. Each measurement has its own results and its own floors.
 */
export async function measureScale(sizes: readonly number[]): Promise<void> {
  for (const payments of sizes) {
    const world = await openWorld({ targets: TARGETS })
    try {
      if (payments > 0) {
        const started = performance.now()
        const scale = { payments, agents: AGENTS, pending: PENDING, busy: BUSY_PAYMENTS }
        await generateScale(world.databaseUrl, { targets: world.targets, scale, now: new Date() })
        say(`generated ${payments} payments in ${Math.round((performance.now() - started) / 1_000)} s`)
      }
      const counts = payments === sizes[0] ? PROCESSES : [1]
      const endpoints: Endpoint[] = []
      for (const count of counts) {
        while (endpoints.length < count) endpoints.push(await world.startServer())
        const series = await scaleSeries(world, endpoints)
        const measured = await measureAll(world, series, { rounds: ROUNDS, onRound: say })
        await report(`scale-${payments}-payments-${count}-processes`, { series, measured })
      }
    } finally {
      await world.close()
    }
  }
}

/** Returns the series of reads, of payments by many agents, and of payments by one agent that has paid very often. */
async function scaleSeries(world: World, endpoints: readonly Endpoint[]): Promise<readonly Series[]> {
  const payments = await paymentSeries(world, LENGTH, endpoints)
  const { busy } = chooseTargets(world.targets)
  const keys = await seedKeys(world.databaseUrl, busy.accountId, BUSY_KEYS)
  const requests = keys.map((key) => postPayment({ ...busy, key }))
  const floors = payments.filter(({ kind }) => kind === 'floor').map(({ name }) => name)
  return [
    ...(await readSeries(world, LENGTH, endpoints)),
    ...payments,
    {
      name: 'POST /v1/payments, all of one agent',
      kind: 'ours',
      floors,
      endpoints,
      prepare: sendLoad(async () => shareOrders(endpoints, requests, LENGTH)),
    },
  ]
}
