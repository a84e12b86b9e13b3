import { readFile, writeFile } from 'node:fs/promises'
import pg from 'pg'
import { FLOOR_PAY, paymentSeries, READ_ME, readSeries } from './cases/reads.ts'
import { tokenSeries } from './cases/tokens.ts'
import { DELIVERY, webhookSeries } from './cases/webhooks.ts'
import { measureCost, type CostRound, type CostSeries } from './check-cost.ts'
import { describeCost, estimateCost, findRise, type Recorded } from './check-decision.ts'
import type { Series } from './measure.ts'
import { describeMachine, describeRun, RESULTS, say } from './report.ts'
import { openWorld, type World } from './world.ts'

/**
 * `npm run bench:check` measures what requests cost, compares it with the recorded costs, and exits with code 1 if a
 * cost has risen by more than a third. `npm run bench:check -- --record` records the costs. Each command takes about a
 * minute and a half. `bench/README.md` explains the costs, and why the check compares them instead of request rates.
 */
const TARGETS = 400
const FILE = `${RESULTS}recorded.json`
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
  deliveries: { ours: 1_000, floor: 1_000 },
}
/** To count the writes to sockets for each request, this many requests are sent, one at a time. */
const SINGLE_AMOUNT = 20

interface Case extends CostSeries {
  readonly rounds: CostRound[]
}

async function openCases(world: World): Promise<Case[]> {
  const single = { ours: SINGLE_AMOUNT, floor: SINGLE_AMOUNT, connections: 1 }
  const singly = await openRequests(world, { reads: single, payments: single, tokens: single })
  const series = [
    ...(await openRequests(world, AMOUNTS)),
    ...(await webhookSeries(world, { amount: AMOUNTS.deliveries.ours })),
  ]
  const find = (all: readonly Series[], name: string | undefined) => all.find((one) => one.name === name)
  return series.flatMap((ours) => {
    const serverFloor = find(series, ours.floors?.at(-1))
    const databaseFloor = ours.name === DELIVERY ? find(series, FLOOR_PAY) : serverFloor
    if (ours.name === READ_ME) return [] // costs what the other reads cost
    if (serverFloor === undefined || databaseFloor === undefined) return []
    return [{ ours, serverFloor, databaseFloor, single: find(singly, ours.name) ?? ours, rounds: [] }]
  })
}

interface Amounts {
  readonly ours: number
  readonly floor: number
  readonly connections?: number
}

type RequestAmounts = Readonly<Record<'reads' | 'payments' | 'tokens', Amounts>>

/** Opens the series of all requests. Our series and the floors send different numbers of requests. */
async function openRequests(world: World, { reads, payments, tokens }: RequestAmounts): Promise<Series[]> {
  const open = async (
    { ours, floor, connections = CONNECTIONS }: Amounts,
    make: (length: { amount: number; connections: number }) => Promise<readonly Series[]>,
  ): Promise<Series[]> => [
    ...(await make({ amount: ours, connections })).filter(({ kind }) => kind === 'ours'),
    ...(await make({ amount: floor, connections })).filter(({ kind }) => kind === 'floor'),
  ]
  return [
    ...(await open(reads, (length) => readSeries(world, length))),
    ...(await open(payments, (length) => paymentSeries(world, length))),
    ...(await open(tokens, (length) => tokenSeries(world, { ...length, withPeer: false }))),
  ]
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

/** Measures each case without keeping the result, because processes are slow when they have just started. */
async function warmUp(bench: Bench, cases: readonly Case[]): Promise<void> {
  await addRounds(bench, cases, WARM_UPS)
  for (const { rounds } of cases) rounds.length = 0
}

async function check(bench: Bench, recorded: Recorded): Promise<boolean> {
  const cases = await openCases(bench.world)
  await warmUp(bench, cases)
  await addRounds(bench, cases, ROUNDS)
  const machine = describeMachine()
  const riseOf = ({ ours: { name }, rounds }: Case): string | null => findRise(recorded, { name, rounds, machine })
  let suspicious = cases.filter((one) => riseOf(one) !== null)
  for (let round = ROUNDS; round < ROUNDS_MAX && suspicious.length > 0; round += 1) {
    say(`measured again, because they seem slower: ${suspicious.map(({ ours }) => ours.name).join(', ')}`)
    await addRounds(bench, suspicious, 1)
    suspicious = suspicious.filter((one) => riseOf(one) !== null)
  }
  for (const one of cases) say(describeCost(recorded, one.ours.name, one.rounds))
  for (const one of suspicious) say(`SLOWER: ${riseOf(one)}`)
  return suspicious.length === 0
}

async function record(bench: Bench): Promise<void> {
  const cases = await openCases(bench.world)
  await warmUp(bench, cases)
  await addRounds(bench, cases, ROUNDS)
  const entries = cases.map(({ ours, rounds }) => [ours.name, { ...estimateCost(rounds), rounds }])
  const recorded = { ...describeRun(), cases: Object.fromEntries(entries) as Recorded['cases'] }
  await writeFile(FILE, `${JSON.stringify(recorded, null, 2)}\n`)
  for (const one of cases) say(describeCost(recorded, one.ours.name, one.rounds))
  say('written to bench/results/recorded.json')
}

if (process.platform !== 'linux') {
  say('bench:check measures processor time in the way of Linux. On other systems it checks nothing.')
} else {
  const world = await openWorld({ targets: TARGETS })
  try {
    const admin = new pg.Client({ connectionString: world.databaseUrl })
    await admin.connect()
    world.onClose(() => admin.end())
    const bench = { world, admin }
    if (process.argv.includes('--record')) await record(bench)
    else {
      const recorded = JSON.parse(await readFile(FILE, 'utf8')) as Recorded
      process.exitCode = (await check(bench, recorded)) ? 0 : 1
    }
  } finally {
    await world.close()
  }
}
