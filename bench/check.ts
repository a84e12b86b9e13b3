import { readFile, writeFile } from 'node:fs/promises'
import { FLOOR_PAY, paymentSeries, readSeries } from './cases/reads.ts'
import { tokenSeries } from './cases/tokens.ts'
import { DELIVERY, webhookSeries } from './cases/webhooks.ts'
import { measureCost, type Cost, type CostSeries } from './check-cost.ts'
import { compareCosts, describeCost, medianOf, type Finding, type Recorded } from './check-decision.ts'
import type { Series } from './measure.ts'
import { describeMachine, describeRun, RESULTS, say } from './report.ts'
import { openWorld, type World } from './world.ts'

/**
 * `npm run bench:check` compares what a request costs with what it cost when the costs were recorded, and exits with
 * code 1 if a cost has risen by more than a quarter. `npm run bench:check -- --record` records the costs. Both take less
 * than a minute on a machine with nothing else to do. `bench/README.md` explains the costs, and why they are not rates.
 */
const TARGETS = 400
const FILE = `${RESULTS}recorded.json`
/** The number of rounds before the first comparison. A record is made of more rounds, so that it is more exact. */
const ROUNDS = 3
const ROUNDS_RECORDED = 9
/** A case that seems slower is measured again, until it does not, or until it has had this many rounds. */
const ROUNDS_MAX = 12

/** The number of requests in a round. */
const READS = 700
const PAYMENTS = 250
const TOKENS = 300
const DELIVERIES = 400

/** The number of requests that are sent one at a time, to count their writes. */
const SINGLE_AMOUNT = 20

interface Case extends CostSeries {
  readonly costs: Cost[]
}

async function openCases(world: World): Promise<Case[]> {
  const requestSeries = async (read: Amount, pay: Amount, token: Amount): Promise<readonly Series[]> => [
    ...(await readSeries(world, read)),
    ...(await paymentSeries(world, pay)),
    ...(await tokenSeries(world, { ...token, withPeer: false })),
  ]
  const together = await requestSeries({ amount: READS }, { amount: PAYMENTS }, { amount: TOKENS })
  const single = { amount: SINGLE_AMOUNT, connections: 1 }
  const singly = new Map((await requestSeries(single, single, single)).map((one) => [one.name, one]))
  const series = [...together, ...(await webhookSeries(world, { amount: DELIVERIES }))]
  const byName = new Map(series.map((one) => [one.name, one]))
  return series.flatMap((ours) => {
    const serverFloor = byName.get(ours.floors?.at(-1) ?? '')
    const databaseFloor = ours.name === DELIVERY ? byName.get(FLOOR_PAY) : serverFloor
    if (serverFloor === undefined || databaseFloor === undefined) return []
    return [{ ours, serverFloor, databaseFloor, single: singly.get(ours.name) ?? ours, costs: [] }]
  })
}

interface Amount {
  readonly amount: number
  readonly connections?: number
}

/** Measures each of these cases once more. */
async function addRound(world: World, cases: readonly Case[]): Promise<void> {
  for (const one of cases) one.costs.push(await measureCost(world, one))
}

/** Measures each case once without keeping the result, because processes are slow when they have just started. */
async function warmUp(world: World, cases: readonly Case[]): Promise<void> {
  for (const one of cases) await measureCost(world, one)
}

async function check(world: World, recorded: Recorded): Promise<boolean> {
  const cases = await openCases(world)
  await warmUp(world, cases)
  for (let round = 0; round < ROUNDS; round += 1) await addRound(world, cases)
  const findingsOf = ({ ours, costs }: Case): Finding[] =>
    compareCosts(recorded, { name: ours.name, costs, machine: describeMachine() })
  let suspicious = cases.filter((one) => findingsOf(one).length > 0)
  for (let round = ROUNDS; round < ROUNDS_MAX && suspicious.length > 0; round += 1) {
    say(`measured again, because they seem slower: ${suspicious.map(({ ours }) => ours.name).join(', ')}`)
    await addRound(world, suspicious)
    suspicious = suspicious.filter((one) => findingsOf(one).length > 0)
  }
  for (const one of cases) say(describeCost(recorded, { name: one.ours.name, costs: one.costs }))
  const findings = suspicious.flatMap(findingsOf)
  for (const { sentence } of findings) say(`SLOWER: ${sentence}`)
  return findings.length === 0
}

async function record(world: World): Promise<void> {
  const cases = await openCases(world)
  await warmUp(world, cases)
  for (let round = 0; round < ROUNDS_RECORDED; round += 1) await addRound(world, cases)
  const entries = cases.map(({ ours, costs }) => {
    const round = (kind: keyof Cost): number => Number(medianOf(costs, kind).toFixed(3))
    return [ours.name, { server: round('server'), database: round('database'), writes: round('writes') } satisfies Cost]
  })
  const recorded = { ...describeRun(), cases: Object.fromEntries(entries) as Recorded['cases'] }
  await writeFile(FILE, `${JSON.stringify(recorded, null, 2)}\n`)
  for (const one of cases) say(describeCost(recorded, { name: one.ours.name, costs: one.costs }))
  say('written to bench/results/recorded.json')
}

if (process.platform !== 'linux') {
  say('bench:check measures processor time in the way of Linux. On other systems it checks nothing.')
} else {
  const world = await openWorld({ targets: TARGETS })
  try {
    if (process.argv.includes('--record')) await record(world)
    else {
      const recorded = JSON.parse(await readFile(FILE, 'utf8')) as Recorded
      process.exitCode = (await check(world, recorded)) ? 0 : 1
    }
  } finally {
    await world.close()
  }
}
