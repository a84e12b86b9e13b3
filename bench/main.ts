import { randomBytes } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../sandbox/src/postgres/start-postgres.ts'
import { createDatabase, freePort } from './database.ts'
import type { LoadFigures, LoadOrder } from './load.ts'
import { residentMiB, startProcess, type BenchProcess } from './processes.ts'
import { seedTargets, type BenchTarget } from './seed.ts'

/**
 * `npm run bench` measures what a request costs and compares it with its floor, in one run on one machine. The floor is
 * the least possible work with the same HTTP framework and the same real PostgreSQL: one prepared select, or one
 * durable transaction with the same writes. The enclave and the chains are fakes that respond at once. The benchmark
 * uses only loopback and takes a limited time.
 */
const TARGETS = 4_000
const CONNECTIONS = 50
const SECONDS = 4
const ROUNDS = 3
/** How far the server's clock is moved forward between two runs, so that no API key is near its rate limit. */
const CLOCK_STEP_MS = 120_000
const RECIPIENT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

interface Case {
  readonly name: string
  readonly floor: string
  readonly aim: number | null
  readonly order: (target: BenchTarget, ports: Ports) => { base: string; request: LoadOrder['requests'][number] }
}

interface Ports {
  readonly server: string
  readonly floor: string
}

const FLOOR_READ = 'floor: one prepared select'
const FLOOR_PAY = 'floor: one durable transaction'

const CASES: readonly Case[] = [
  { name: FLOOR_READ, floor: FLOOR_READ, aim: null, order: (_target, ports) => get(ports.floor, '/read') },
  {
    name: 'GET /v1/agents/{id}',
    floor: FLOOR_READ,
    aim: 0.6,
    order: (target, ports) => get(ports.server, `/v1/agents/${target.agentId}`, target),
  },
  { name: 'GET /v1/me', floor: FLOOR_READ, aim: 0.6, order: (target, ports) => get(ports.server, '/v1/me', target) },
  { name: FLOOR_PAY, floor: FLOOR_PAY, aim: null, order: (_target, ports) => post(ports.floor, '/pay', {}) },
  {
    name: 'POST /v1/payments',
    floor: FLOOR_PAY,
    aim: 0.5,
    order: (target, ports) =>
      post(
        ports.server,
        '/v1/payments',
        { agent_id: target.agentId, wallet: target.wallet, to: RECIPIENT, amount_usdc: '0.000001' },
        target,
      ),
  },
]

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
  const databaseUrl = await createDatabase(postgres.url)
  const wires = keep(await startProcess<{ enclave: string; test: string; live: string }>('./wires.ts'))
  const environment = {
    BASE_URL: 'http://localhost:4100',
    AUTH_URL: 'http://localhost:4101',
    PORT: '0',
    // With this role, the server runs no background jobs, so only the request is measured. `bench:throughput` measures
    // requests and jobs together.
    ROLE: 'api',
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    PRIVY_APP_ID: 'bench',
    PRIVY_APP_SECRET: 'bench',
    PRIVY_API_URL: wires.ready.enclave,
    TEST_RPC_URLS: wires.ready.test,
    LIVE_RPC_URLS: wires.ready.live,
  }
  say(`seeding ${TARGETS} workspaces`)
  const targets = await seedTargets(environment, TARGETS)
  const log = await open(join(folder, 'server.log'), 'a')
  const server = keep(await startProcess<{ ports: number[] }>('../server/src/main.ts', { environment, log: log.fd }))
  const floor = keep(await startProcess<{ port: number }>('./floor.ts', { first: { databaseUrl, targets } }))
  const load = keep(
    await startProcess('./load.ts', {
      first: {
        url: `http://127.0.0.1:${floor.ready.port}`,
        connections: 1,
        seconds: 1,
        requests: [{ method: 'GET', path: '/read', headers: {} }],
      },
    }),
  )
  const ports = { server: `http://127.0.0.1:${server.ready.ports[0]}`, floor: `http://127.0.0.1:${floor.ready.port}` }
  say(`idle server: ${(await residentMiB(server.child.pid)) ?? 'unknown'} MiB resident`)

  const figures = new Map<string, LoadFigures[]>()
  let clockOffsetMs = 0
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const benchCase of CASES) {
      clockOffsetMs += CLOCK_STEP_MS
      await server.ask({ clockOffsetMs })
      const orders = targets.map((target) => benchCase.order(target, ports))
      const [first] = orders
      if (first === undefined) throw new Error('no targets')
      const order = {
        url: first.base,
        connections: CONNECTIONS,
        seconds: round === 0 ? 2 : SECONDS,
        requests: orders.map(({ request }) => request),
      }
      const measured = await load.ask<LoadFigures>(order)
      if (round === 0) continue // warm-up
      figures.set(benchCase.name, [...(figures.get(benchCase.name) ?? []), measured])
      say(
        `round ${round}: ${benchCase.name}: ${Math.round(measured.perSecond)}/s, p50 ${measured.p50Ms} ms, p99 ${measured.p99Ms} ms, failed ${measured.failed}`,
      )
    }
  }
  report(figures)
  say(`server after load: ${(await residentMiB(server.child.pid)) ?? 'unknown'} MiB resident`)
  await log.close()
}

function report(figures: ReadonlyMap<string, readonly LoadFigures[]>): void {
  say('')
  say('| | requests/s (median, min to max) | p50 ms | p99 ms | of its floor (median of rounds) | aim |')
  say('|---|---|---|---|---|---|')
  for (const { name, floor, aim } of CASES) {
    const rounds = figures.get(name) ?? []
    const floors = figures.get(floor) ?? []
    const rates = rounds.map((round) => round.perSecond)
    const ratios = rounds.map((round, index) => round.perSecond / (floors[index]?.perSecond ?? Number.NaN))
    const failed = rounds.reduce((sum, round) => sum + round.failed, 0)
    say(
      `| ${name} | ${Math.round(median(rates))} (${Math.round(Math.min(...rates))} to ${Math.round(Math.max(...rates))}) | ` +
        `${median(rounds.map((round) => round.p50Ms))} | ${median(rounds.map((round) => round.p99Ms))} | ` +
        `${name === floor ? '' : median(ratios).toFixed(2)} | ${aim ?? ''} |${failed === 0 ? '' : ` ${failed} failed`}`,
    )
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN
}

function get(base: string, path: string, target?: BenchTarget) {
  return { base, request: { method: 'GET' as const, path, headers: authorization(target) } }
}

function post(base: string, path: string, body: object, target?: BenchTarget) {
  const headers = { 'content-type': 'application/json', ...authorization(target) }
  return { base, request: { method: 'POST' as const, path, headers, body: JSON.stringify(body) } }
}

function authorization(target: BenchTarget | undefined): Record<string, string> {
  return target === undefined ? {} : { authorization: `Bearer ${target.key}` }
}

function keep<Ready>(child: BenchProcess<Ready>): BenchProcess<Ready> {
  processes.push(child)
  return child
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
