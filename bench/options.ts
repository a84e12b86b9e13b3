import pg from 'pg'
import { migrate } from '../server/src/db/migrate.ts'
import { createClock } from '../server/src/lib/clock.ts'
import { paymentSeries, readSeries } from './cases/reads.ts'
import type { Length } from './cases/requests.ts'
import { describeCounts, type Counts } from './count-decision.ts'
import { countOnce } from './count-once.ts'
import { measureAll, type Series } from './measure.ts'
import { report, say } from './report.ts'
import { seedTargets, type BenchTarget } from './seed.ts'
import { openWorld, type Endpoint, type World } from './world.ts'

/**
 * `npm run bench:options` measures what two options cost that a database server with several cells needs: a schema
 * that is not `public`, and `PLAN_CACHE_MODE=auto`, which is for Citus. Each server differs from the first one in one
 * setting. The second one differs in none, so it shows how far apart two equal servers are. `bench/README.md` explains
 * the figures.
 */
const TARGETS = 400
const PAYMENTS: Length = { amount: 500, connections: 16 }
const READS: Length = { amount: 1_000, connections: 16 }
const ROUNDS = 7
/** One request at a time, because requests that arrive together share statements. */
const COUNTED: Length = { amount: 25, connections: 1 }
const COUNTED_ROUNDS = 4
const SCHEMA = 'cell'

interface Variant {
  readonly name: string
  readonly endpoint: Endpoint
  readonly targets: readonly BenchTarget[]
}

/** The variants share no workspace, because a request costs more after others with the same API key. */
async function startVariants(world: World): Promise<Variant[]> {
  const cell = { DATABASE_URL: await createCell(world) }
  const inCell = await seedTargets({ ...world.environment, ...cell }, TARGETS)
  const start = async (
    name: string,
    changes: Record<string, string>,
    [targets, part]: readonly [readonly BenchTarget[], number],
  ): Promise<Variant> => ({
    name,
    endpoint: await world.startServer(changes),
    targets: targets.slice(part * TARGETS, (part + 1) * TARGETS),
  })
  return [
    await start('first', {}, [world.targets, 0]),
    await start('the same again', {}, [world.targets, 1]),
    await start('auto', { PLAN_CACHE_MODE: 'auto' }, [world.targets, 2]),
    await start('schema', cell, [inCell, 0]),
  ]
}

/** Creates a schema with all tables, and a user whose `search_path` names it. Returns the user's URL. */
async function createCell({ databaseUrl }: World): Promise<string> {
  const url = new URL(databaseUrl)
  const admin = new pg.Client({ connectionString: url.href })
  await admin.connect()
  await admin.query(`create role ${SCHEMA} login password '${url.password}';
    create schema ${SCHEMA} authorization ${SCHEMA};
    alter role ${SCHEMA} set search_path = ${SCHEMA}`)
  await admin.end()
  url.username = SCHEMA
  await migrate(url.href, createClock())
  return url.href
}

/** Returns the series of payments and of a read, of one variant. Each is compared with the same one of `first`. */
async function seriesOf(world: World, { name, endpoint, targets }: Variant, lengths: readonly Length[]) {
  const [payments = {}, reads = {}] = lengths
  const all = [
    ...(await paymentSeries({ ...world, targets }, payments, [endpoint])),
    ...(await readSeries({ ...world, targets }, reads, [endpoint])),
  ]
  const wanted = all.filter((one) => one.name === 'POST /v1/payments' || one.name === 'GET /v1/me')
  return wanted.map(({ floors: _floors, aim: _aim, ...one }): Series => {
    const compared = name === 'first' ? {} : { peer: `${one.name}, first` }
    return { ...one, ...compared, name: `${one.name}, ${name}` }
  })
}

const world = await openWorld({ targets: 3 * TARGETS })
try {
  const admin = new pg.Client({ connectionString: world.databaseUrl })
  await admin.connect()
  world.onClose(() => admin.end())
  const variants = await startVariants(world)
  for (const variant of variants) {
    for (const series of await seriesOf(world, variant, [COUNTED, COUNTED])) {
      const counts: Counts[] = []
      for (let round = 0; round <= COUNTED_ROUNDS; round += 1) counts.push(await countOnce(world, admin, series))
      say(describeCounts(series.name, counts.slice(1)))
    }
  }
  const series = (await Promise.all(variants.map((variant) => seriesOf(world, variant, [PAYMENTS, READS])))).flat()
  const inTurn = series.toSorted((left, right) => left.name.slice(0, 6).localeCompare(right.name.slice(0, 6)))
  report(inTurn, await measureAll(world, inTurn, { rounds: ROUNDS, onRound: say }))
} finally {
  await world.close()
}
