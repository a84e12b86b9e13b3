import pg from 'pg'
import { FLOOR_PAY, paymentSeries, READ_ME, readSeries } from './cases/reads.ts'
import { tokenSeries } from './cases/tokens.ts'
import { DELIVERY, webhookSeries } from './cases/webhooks.ts'
import { measureCost, type CostRound, type CostSeries } from './check-cost.ts'
import { describeCost, estimateCost, findRise, type RecordedCosts } from './check-decision.ts'
import type { Series } from './measure.ts'
import { describeMachine, readRecord, writeRecord } from './record.ts'
import { say } from './report.ts'
import { openWorld, type World } from './world.ts'

/**
 * `npm run bench:check` measures what requests cost, compares it with the recorded costs, and exits with code 1 if a
 * cost has risen by more than a third. `npm run bench:check -- --record` records the costs. Each command takes about a
 * minute and a half. `bench/README.md` explains the costs, and why the check compares them instead of request rates.
 */
const TARGETS = 400
/** The number of rounds before the measurement. Their results are not kept. */
const WARM_UPS = 1
/**
 * This many rounds are recorded, and the check makes this many rounds before its first comparison. The numbers must be
 * the same, because the code becomes faster from round to round while Node.js compiles it.
 */
const ROUNDS = 5
/** A case that seems slower gets more rounds, until it no longer seems slower, or has had this many rounds in all. */
const ROUNDS_MAX = 12

const CONNECTIONS = 16
/**
 * The number of requests in a round. Most floors get more requests than the service, because they are faster. So a
 * floor and the series that is compared with it end at about the same time.
 */
const AMOUNTS = {
  reads: { ours: 1_500, floor: 3_000 },
  payments: { ours: 400, floor: 1_000 },
  tokens: { ours: 500, floor: 1_000 },
}
/** The number of webhook deliveries in a round. */
const DELIVERIES = 1_000

interface Case extends CostSeries {
  readonly rounds: CostRound[]
}

async function openCases(world: World): Promise<Case[]> {
  const series = [
    ...(await openSeries(AMOUNTS.reads, (length) => readSeries(world, length))),
    ...(await openSeries(AMOUNTS.payments, (length) => paymentSeries(world, length))),
    ...(await openSeries(AMOUNTS.tokens, (length) => tokenSeries(world, { ...length, withPeer: false }))),
    ...(await webhookSeries(world, { amount: DELIVERIES })),
  ]
  const find = (name: string | undefined) => series.find((one) => one.name === name)
  return series.flatMap((ours) => {
    const serverFloor = find(ours.floors?.at(-1))
    const databaseFloor = ours.name === DELIVERY ? find(FLOOR_PAY) : serverFloor
    if (ours.name === READ_ME) return [] // costs what the other reads cost
    if (serverFloor === undefined || databaseFloor === undefined) return []
    return [{ ours, serverFloor, databaseFloor, rounds: [] }]
  })
}

/** Opens the series of some requests. Our series and the floors send different numbers of requests. */
async function openSeries(
  { ours, floor }: { ours: number; floor: number },
  open: (length: { amount: number; connections: number }) => Promise<readonly Series[]>,
): Promise<Series[]> {
  const [service, floors] = [
    await open({ amount: ours, connections: CONNECTIONS }),
    await open({ amount: floor, connections: CONNECTIONS }),
  ]
  return [...service.filter(({ kind }) => kind === 'ours'), ...floors.filter(({ kind }) => kind === 'floor')]
}

/** Measures each of these cases `rounds` times more. */
async function addRounds(bench: Bench, cases: readonly Case[], rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    for (const one of cases) one.rounds.push(await measureCost(bench.world, bench.admin, one))
  }
}

interface Bench {
  readonly world: World
  /** A connection that is used only to find the PostgreSQL processes of the other connections. */
  readonly admin: pg.Client
}

async function check(bench: Bench, cases: readonly Case[], recorded: RecordedCosts): Promise<boolean> {
  const machine = describeMachine()
  const riseOf = ({ ours: { name }, rounds }: Case): string | null => findRise(recorded, { name, rounds, machine })
  let suspicious = cases.filter((one) => riseOf(one) !== null)
  for (let round = ROUNDS; round < ROUNDS_MAX && suspicious.length > 0; round += 1) {
    say(`measured again, because they seem slower: ${suspicious.map(({ ours }) => ours.name).join(', ')}`)
    await addRounds(bench, suspicious, 1)
    suspicious = suspicious.filter((one) => riseOf(one) !== null)
  }
  for (const one of suspicious) say(`SLOWER: ${riseOf(one)}`)
  return suspicious.length === 0
}

/** Measures the costs, and compares or records them. Returns whether the check has passed. */
export async function runCheck(): Promise<boolean> {
  if (process.platform !== 'linux') {
    say('bench:check measures processor time in the way of Linux. On other systems it checks nothing.')
    return true
  }
  const world = await openWorld({ targets: TARGETS })
  try {
    const admin = new pg.Client({ connectionString: world.databaseUrl })
    await admin.connect()
    world.onClose(() => admin.end())
    const bench = { world, admin }
    const cases = await openCases(world)
    await addRounds(bench, cases, WARM_UPS)
    for (const { rounds } of cases) rounds.length = 0
    await addRounds(bench, cases, ROUNDS)
    const isRecording = process.argv.includes('--record')
    if (isRecording) {
      const costs = cases.map(({ ours: { name }, rounds }) => [name, Number(estimateCost(rounds).toFixed(3))])
      await writeRecord('costs', Object.fromEntries(costs) as RecordedCosts['cases'])
    }
    const { costs } = await readRecord()
    const hasPassed = isRecording || (await check(bench, cases, costs))
    for (const { ours, rounds } of cases) say(describeCost(costs, ours.name, rounds))
    return hasPassed
  } finally {
    await world.close()
  }
}
