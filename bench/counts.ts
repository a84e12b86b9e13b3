import pg from 'pg'
import { paymentSeries, readSeries } from './cases/reads.ts'
import { tokenSeries } from './cases/tokens.ts'
import { describeCounts, findRisenCounts, lowestCounts, type Counts, type RecordedCounts } from './count-decision.ts'
import { countOnce } from './count-once.ts'
import type { Series } from './measure.ts'
import { readRecord, writeRecord } from './record.ts'
import { say } from './report.ts'
import { openWorld, type World } from './world.ts'

/**
 * `npm run bench:counts` counts what a request of each hot path needs, and exits with code 1 if a count is higher than
 * the recorded one. `npm run bench:counts -- --record` records the counts. Both take less than a minute.
 * `bench/README.md` explains the counts.
 */
const TARGETS = 100
/**
 * One request at a time. With several at once, some requests would share a statement, and chance would decide how many.
 */
const LENGTH = { amount: 25, connections: 1 }
/** The number of rounds before the first count, in which statements are prepared and caches filled. */
const WARM_UPS = 1
const ROUNDS = 4

interface Case {
  readonly series: Series
  readonly rounds: Counts[]
}

async function countCases(world: World, admin: pg.Client): Promise<Case[]> {
  const all = [
    ...(await readSeries(world, LENGTH)),
    ...(await paymentSeries(world, LENGTH)),
    ...(await tokenSeries(world, { ...LENGTH, withPeer: false })),
  ]
  const cases = all.filter(({ kind }) => kind === 'ours').map((series): Case => ({ series, rounds: [] }))
  for (let round = 0; round < WARM_UPS + ROUNDS; round += 1) {
    for (const { series, rounds } of cases) {
      const counts = await countOnce(world, admin, series)
      if (round >= WARM_UPS) rounds.push(counts)
    }
  }
  return cases
}

async function check(cases: readonly Case[]): Promise<boolean> {
  const { counts } = await readRecord()
  const risen = cases.flatMap(({ series, rounds }) => findRisenCounts(counts.cases, series.name, rounds))
  for (const sentence of risen) say(`MORE: ${sentence}`)
  return risen.length === 0
}

if (process.platform !== 'linux') {
  say('bench:counts counts in the way of Linux. On other systems it checks nothing.')
} else {
  const world = await openWorld({ targets: TARGETS })
  try {
    const admin = new pg.Client({ connectionString: world.databaseUrl })
    await admin.connect()
    world.onClose(() => admin.end())
    const cases = await countCases(world, admin)
    for (const { series, rounds } of cases) say(describeCounts(series.name, rounds))
    if (process.argv.includes('--record')) {
      const counts = cases.map(({ series, rounds }) => [series.name, lowestCounts(rounds)])
      await writeRecord('counts', Object.fromEntries(counts) as RecordedCounts)
    } else process.exitCode = (await check(cases)) ? 0 : 1
  } finally {
    await world.close()
  }
}
