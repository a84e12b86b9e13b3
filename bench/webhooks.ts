import { randomBytes } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startPostgres } from '../sandbox/src/postgres/start-postgres.ts'
import { readConfig } from '../server/src/config.ts'
import type { Context } from '../server/src/domain/context.ts'
import { createClock } from '../server/src/lib/clock.ts'
import { createLogger } from '../server/src/lib/logger.ts'
import { openContext } from '../server/src/service.ts'
import { createDatabase, freePort } from './database.ts'
import { startProcess, type BenchProcess } from './processes.ts'
import type { Arrivals } from './receiver.ts'
import { announce, okUrl, openWorkspace } from './webhook-events.ts'

/**
 * `npm run bench:webhooks` measures whether dead or hanging endpoints delay healthy endpoints. It uses only loopback
 * and takes a limited time. `npm run bench:webhooks -- strangers` measures only how the hanging endpoints of other
 * customers delay a workspace. `npm run bench -- webhooks` measures how fast events are delivered.
 */
const DRAIN_MS_MAX = 600_000
const POLL_MS = 200

const FAIR_ENDPOINTS = 100
const FAIR_BAD = 20
const FAIR_ROUNDS = 20
const FAIR_ROUND_MS = 1_000
/** A port on which no process listens. */
const CLOSED_PORT = 1

/**
 * A stranger is another customer whose endpoints hang: each endpoint has a queue of deliveries, reads every request and
 * never responds. There is one run for each number in `STRANGER_WORKSPACES`: the run spreads the endpoints over this
 * number of workspaces.
 */
const STRANGER_ENDPOINTS = 240
const STRANGER_EVENTS = 24
const STRANGER_WORKSPACES = [12, 240] as const
/** The number of events in the workspace that we measure, and the delay between two of them. */
const STEADY_EVENTS = 120
const STEADY_MS = 250

const folder = await mkdtemp(join(tmpdir(), 'bursar-bench-'))
const postgres = await startPostgres({ dataDir: join(folder, 'postgres'), port: await freePort(), durable: true })
const processes: BenchProcess<unknown>[] = []
try {
  await run()
} finally {
  await Promise.all(processes.map((child) => child.stop()))
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}

async function run(): Promise<void> {
  const wires = keep(await startProcess<{ enclave: string; test: string; live: string }>('./wires.ts'))
  const receiver = keep(await startProcess<{ port: number }>('./receiver.ts'))
  const environment = {
    BASE_URL: 'http://localhost:4100',
    AUTH_URL: 'http://localhost:4101',
    PORT: '0',
    ROLE: 'worker',
    WEBHOOKS_TO_LOOPBACK: 'true',
    DATABASE_URL: await createDatabase(postgres.url),
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    PRIVY_APP_ID: 'bench',
    PRIVY_APP_SECRET: 'bench',
    PRIVY_API_URL: wires.ready.enclave,
    TEST_RPC_URLS: wires.ready.test,
    LIVE_RPC_URLS: wires.ready.live,
  }
  const log = await open(join(folder, 'server.log'), 'a')
  const starting = (): Promise<BenchProcess<unknown>> =>
    startProcess('../server/src/main.ts', { environment, log: log.fd })
  const { context, close } = openContext(readConfig(environment), {
    clock: createClock(),
    logger: createLogger('silent'),
  })
  const port = receiver.ready.port
  // Start and stop a worker once, so that it migrates the schema before anything is measured.
  await (await starting()).stop()

  if (!process.argv.includes('strangers')) {
    for (const bad of [0, FAIR_BAD, 0, FAIR_BAD]) await measureFairness(context, { port, receiver, starting, bad })
  }
  for (const workspaces of STRANGER_WORKSPACES) {
    await measureStrangers(context, { port, receiver, starting, workspaces })
  }
  await close()
  await log.close()
}

interface Ways {
  readonly port: number
  readonly receiver: BenchProcess<unknown>
  readonly starting: () => Promise<BenchProcess<unknown>>
}

/**
 * Measures the delay of healthy endpoints. Each of 100 endpoints gets one event a second. `bad` of these endpoints
 * never respond or do not exist.
 */
async function measureFairness(ctx: Context, { port, receiver, starting, bad }: Ways & { bad: number }): Promise<void> {
  const accounts: string[] = []
  for (let index = 0; index < FAIR_ENDPOINTS; index += 1) {
    const hangs = `http://127.0.0.1:${port}/hang/${index}`
    const refuses = `http://127.0.0.1:${CLOSED_PORT}/`
    const badUrl = index % 2 === 0 ? hangs : refuses
    accounts.push(await openWorkspace(ctx, [index < bad ? badUrl : okUrl(port, index)]))
  }
  const worker = await starting()
  await receiver.ask<Arrivals>({ reset: true })
  for (let round = 0; round < FAIR_ROUNDS; round += 1) {
    await announce(ctx, accounts, 1)
    await delay(FAIR_ROUND_MS)
  }
  const wanted = (FAIR_ENDPOINTS - bad) * FAIR_ROUNDS
  await waitUntil(async () => (await receiver.ask<Arrivals>({})).unique >= wanted)
  const { unique, p50Ms, p99Ms } = await receiver.ask<Arrivals>({ reset: true })
  say(
    `${bad} bad of ${FAIR_ENDPOINTS}: ${unique} of ${wanted} arrived, from event to arrival p50 ${p50Ms} ms, p99 ${p99Ms} ms`,
  )
  await worker.stop()
}

/**
 * Measures how long the delivery of one workspace's events takes, first while there are no other events, and then while
 * the endpoints of strangers hang.
 */
async function measureStrangers(
  ctx: Context,
  { port, receiver, starting, workspaces }: Ways & { workspaces: number },
): Promise<void> {
  const steady = await openWorkspace(ctx, [okUrl(port, 0)])
  const each = STRANGER_ENDPOINTS / workspaces
  const strangers: string[] = []
  for (let index = 0; index < workspaces; index += 1) {
    const urls = Array.from({ length: each }, (_, number) => `http://127.0.0.1:${port}/hang/${index}/${number}`)
    strangers.push(await openWorkspace(ctx, urls))
  }
  const worker = await starting()
  await receiver.ask<Arrivals>({ reset: true })
  const measure = async (): Promise<Arrivals> => {
    for (let sent = 0; sent < STEADY_EVENTS; sent += 1) {
      await announce(ctx, [steady], 1)
      await delay(STEADY_MS)
    }
    await waitUntil(async () => (await receiver.ask<Arrivals>({})).unique >= STEADY_EVENTS)
    return await receiver.ask<Arrivals>({ reset: true })
  }
  const quiet = await measure()
  await announce(ctx, strangers, STRANGER_EVENTS)
  const attacked = await measure()
  const format = ({ p50Ms, p99Ms }: Arrivals): string => `p50 ${p50Ms} ms, p99 ${p99Ms} ms`
  say(
    `${STRANGER_ENDPOINTS} endpoints of ${workspaces} other workspaces hang, ${STRANGER_EVENTS} events each: ` +
      `quiet ${format(quiet)}; beside them ${format(attacked)}`,
  )
  await worker.stop()
}

async function waitUntil(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + DRAIN_MS_MAX
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error('not all events arrived in time')
    await delay(POLL_MS)
  }
}

function keep<Ready>(child: BenchProcess<Ready>): BenchProcess<Ready> {
  processes.push(child)
  return child
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
