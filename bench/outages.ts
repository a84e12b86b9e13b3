import { setTimeout as delay } from 'node:timers/promises'
import { waitFor } from '../test/support/wait-for.ts'
import { CAP, openLab, type ScenarioPayers } from './outages/lab.ts'
import { paySteadily, type Order } from './outages/pay-steadily.ts'
import { SCENARIOS, type Scenario } from './outages/scenarios.ts'

/**
 * `npm run bench:outages [-- parts of names]` runs the whole sandbox, takes one part of it away at a time while agents
 * pay ten times a second, and compares the chain with what the agents were told. Every fifth payment is of an agent whose
 * daily cap is ten payments. Prints a row for each outage: the final answers; all tries by status; the longest time
 * without a success and the time until 95 % of the payments were answered, in seconds; and how many payments were lost
 * (answered with 201, but not on the chain), doubled (on the chain more often than any agent ordered) and over the cap.
 * It exits with code 1 if one of the last three is not 0. The enclave uses its profile `fast`.
 */
const QUIET_MS = 5_000
const LANDING_MS_MAX = 180_000
const WARM_SECONDS = 5
const BEFORE_MS = 5_000

const wanted = process.argv.slice(2)
const chosen = Object.entries(SCENARIOS).filter(
  ([name]) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
)
if (chosen.length === 0) throw new Error(`the outages are: ${Object.keys(SCENARIOS).join('; ')}`)
const lab = await openLab(chosen.length)
try {
  say('| outage | final answers | tries | gap | p95 | lost | doubled | over the cap |')
  say('|---|---|---|---|---|---|---|---|')
  for (const [name, scenario] of chosen) await runScenario(name, scenario)
} finally {
  await lab.close()
}

async function runScenario(name: string, scenario: Scenario): Promise<void> {
  const payers = lab.nextPayers()
  try {
    await scenario.start(lab)
    if (scenario.seconds === 0) return
    const load = {
      bases: () => lab.servers.map(({ baseUrl }) => baseUrl),
      keys: lab.keys,
      bodyOf: (isCapped: boolean) => payers.bodyOf(isCapped),
    }
    // The first requests of a server take longer, so they are not in the times.
    const first = await paySteadily({ ...load, earlier: 0, seconds: WARM_SECONDS })
    const startedAt = performance.now()
    const endedAt = startedAt + scenario.seconds * 1_000
    const disturbing = delay(BEFORE_MS).then(() => scenario.disturb(lab))
    const [orders] = await Promise.all([
      paySteadily({ ...load, earlier: first.length, seconds: scenario.seconds }),
      disturbing,
    ])
    const found = await compareWithChain(payers, [...first, ...orders])
    say(
      `| ${name} | ${describeEnds(orders)} | ${count(orders.flatMap(({ tries }) => tries))} | ${findGap(orders, startedAt, endedAt)} | ${findP95(orders)} | ${found.join(' | ')} |`,
    )
    if (found.some((number) => number !== 0)) process.exitCode = 1
  } catch (error) {
    process.exitCode = 1
    say(`| ${name} | failed: ${String(error)} |`)
  } finally {
    await lab.stopServers()
  }
}

/** Returns how many payments were lost, doubled, and over the cap. */
async function compareWithChain({ wallets }: ScenarioPayers, orders: readonly Order[]): Promise<number[]> {
  const paid = orders.filter(({ end }) => end === 'paid')
  const listAmounts = async (wallet: string): Promise<bigint[]> =>
    (await lab.chain.listTransfers(wallet)).map(({ amountMicro }) => amountMicro)
  const list = async (): Promise<{ main: bigint[]; capped: bigint[] }> => ({
    main: await listAmounts(wallets.main),
    capped: await listAmounts(wallets.capped),
  })
  const countLanded = async (): Promise<number> => Object.values(await list()).flat().length
  const landing = waitFor(
    'all payments are on the chain',
    async () => (await countLanded()) >= paid.length,
    LANDING_MS_MAX,
  )
  // If one never lands, it is lost, which the comparison finds.
  await landing.catch(() => undefined)
  await delay(QUIET_MS)
  const { main, capped } = await list()
  const landed = [...main, ...capped]
  const countOf = (order: Order): number => landed.filter((amount) => amount === order.amountMicro).length
  const doubled = orders.filter((order) => countOf(order) > (order.end === 'rejected' ? 0 : 1))
  return [paid.filter((order) => countOf(order) === 0).length, doubled.length, Math.max(0, capped.length - CAP)]
}

/** The longest time without a success, in seconds. */
function findGap(orders: readonly Order[], startedAt: number, endedAt: number): string {
  const successes = orders.flatMap((order) => (order.end === 'paid' ? [order.endedAt] : []))
  const times = [startedAt, ...successes, endedAt].toSorted((a, b) => a - b)
  const gaps = times.map((time, index) => time - (times[index - 1] ?? time))
  return (Math.max(...gaps) / 1_000).toFixed(1)
}

function findP95(orders: readonly Order[]): string {
  const times = orders.map(({ startedAt, endedAt }) => endedAt - startedAt).toSorted((a, b) => a - b)
  return ((times[Math.floor(times.length * 0.95)] ?? 0) / 1_000).toFixed(1)
}

/** How the orders ended, with the errors that were not the last answer. */
function describeEnds(orders: readonly Order[]): string {
  const codes = new Set(orders.flatMap((order) => [...order.codes]))
  return `${count(orders.map(({ end }) => end))} (${[...codes].join(', ') || 'no errors'})`
}

function count(names: readonly string[]): string {
  return [...Map.groupBy(names, (name) => name)].map(([name, own]) => `${own.length} x ${name}`).join(', ')
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
