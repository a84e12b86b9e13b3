import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../sandbox/src/postgres/start-postgres.ts'
import { createDatabase, freePort } from './database.ts'
import type { FloorOrder } from './floor.ts'
import type { GuardOrder } from './guard.ts'
import { findProgram } from '../sandbox/src/processes/programs.ts'
import { startProcess, type BenchProcess } from './processes.ts'
import { seedTargets, type BenchTarget } from './seed.ts'
import type { Wires } from './wires.ts'

/** How far the servers' clocks move between two measurements, so that no API key or client is near its rate limit. */
const CLOCK_STEP_MS = 120_000
/** The host of the servers' `AUTH_URL`. */
export const AUTH_HOST = 'localhost:4101'
/** At most this many loads run at the same time: one on the service, and two on its floors (minimal servers). */
const LOADS = 3
/** Enough for four servers, the floor, and the peer (other software that does the same job). */
const DATABASE_CONNECTIONS_MAX = 250
const LOG_CHARS_SHOWN = 1_000

/** A process that responds to HTTP requests. */
export interface Endpoint {
  readonly url: string
  readonly process: BenchProcess<unknown>
}

/** Everything that runs during a benchmark: a real, durable PostgreSQL, and the processes that use it. */
export interface World {
  readonly databaseUrl: string
  /** The process id of PostgreSQL's postmaster. */
  readonly postmaster: number
  readonly environment: Readonly<Record<string, string>>
  /** The process that sends the load. */
  readonly load: BenchProcess<unknown>
  /** All processes that send requests: the one in `load`, and one for each further load that runs at the same time. */
  readonly loads: readonly BenchProcess<unknown>[]
  readonly targets: readonly BenchTarget[]
  /** Returns the first server. It runs no background jobs, so only requests are measured. Starts it if necessary. */
  server(): Promise<Endpoint>
  floor(): Promise<Endpoint>
  /** Starts another server, with changes to its environment. */
  startServer(changes?: Record<string, string>): Promise<Endpoint>
  /** Registers a process that is stopped when the world is closed, and returns it. */
  keep<Ready>(child: BenchProcess<Ready>): BenchProcess<Ready>
  /** Registers what must be closed before PostgreSQL stops. */
  onClose(close: () => Promise<void>): void
  /** Moves the clocks of all servers forward. */
  advanceClock(): Promise<void>
  close(): Promise<void>
}

/** Opens a world with this number of workspaces that can pay. */
export async function openWorld({ targets: count }: { targets: number }): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-bench-'))
  const processes: BenchProcess<unknown>[] = []
  const closers: (() => Promise<void>)[] = []
  let stopPostgres = async (): Promise<void> => {}
  const close = async (): Promise<void> => {
    await Promise.all([...processes.map((child) => child.stop()), ...closers.map((closer) => closer())])
    await stopPostgres()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const dataDir = join(folder, 'postgres')
    const port = await freePort()
    const postgres = await startPostgres({ dataDir, port, durable: true, maxConnections: DATABASE_CONNECTIONS_MAX })
    stopPostgres = () => postgres.stop()
    const first = { postmaster: postgres.pid, folder } satisfies GuardOrder
    const guard = await startProcess('./guard.ts', { first, detached: true })
    stopPostgres = async () => {
      await postgres.stop()
      await guard.stop()
    }
    const keep = <Ready>(child: BenchProcess<Ready>): BenchProcess<Ready> => {
      processes.push(child)
      return child
    }
    const [databaseUrl, wires, ...loads] = await Promise.all([
      createDatabase(postgres.url),
      startProcess<Wires>('./wires.ts').then(keep),
      ...Array.from({ length: LOADS }, () => startProcess('./load.ts').then(keep)),
    ])
    const [load] = loads
    if (load === undefined) throw new Error('no process sends load')
    const environment = { ...toEnvironment(databaseUrl, wires.ready), DASHBOARD_DIR: await makeDashboard(folder) }
    const targets = await seedTargets(environment, count)
    const log = await open(join(folder, 'server.log'), 'a')
    const flags = await readServerFlags()
    const servers: Endpoint[] = []
    let clockOffsetMs = 0
    const startServer = async (changes: Record<string, string> = {}): Promise<Endpoint> => {
      const server = await startProcess<{ ports: number[] }>(findProgram('server').href, {
        environment: { ...environment, ...changes, CLOCK_OFFSET_MS: String(clockOffsetMs) },
        log: log.fd,
        flags,
      })
      const endpoint = { url: `http://127.0.0.1:${server.ready.ports[0]}`, process: keep(server) }
      servers.push(endpoint)
      return endpoint
    }
    const startFloor = async (): Promise<Endpoint> => {
      const first = { databaseUrl, enclaveUrl: wires.ready.enclave, targets } satisfies FloorOrder
      const floor = keep(await startProcess<{ port: number }>('./floor.ts', { first }))
      return { url: `http://127.0.0.1:${floor.ready.port}`, process: floor }
    }
    return {
      databaseUrl,
      postmaster: postgres.pid,
      environment,
      load,
      loads,
      targets,
      server: once(() => startServer()),
      floor: once(startFloor),
      startServer,
      keep,
      onClose: (closer) => closers.push(closer),
      async advanceClock() {
        clockOffsetMs += CLOCK_STEP_MS
        const running = servers.filter(({ process: { child } }) => child.exitCode === null && child.signalCode === null)
        await Promise.all(running.map((server) => server.process.ask({ clockOffsetMs })))
      },
      async close() {
        await close()
        await log.close()
      },
    }
  } catch (error) {
    const log = await readFile(join(folder, 'server.log'), 'utf8').catch(() => '')
    await close()
    throw new Error(`the benchmark could not start. The end of the server's log: ${log.slice(-LOG_CHARS_SHOWN)}`, {
      cause: error,
    })
  }
}

/** The server does not start without the dashboard's files. One page replaces them, so they need not be built. */
async function makeDashboard(folder: string): Promise<string> {
  const dashboard = join(folder, 'dashboard')
  await mkdir(join(dashboard, 'assets'), { recursive: true })
  await writeFile(join(dashboard, 'index.html'), '<!doctype html><title>Bench</title>')
  return dashboard
}

function toEnvironment(databaseUrl: string, wires: Wires): Record<string, string> {
  return {
    BASE_URL: 'http://localhost:4100',
    AUTH_URL: `http://${AUTH_HOST}`,
    PORT: '0',
    ROLE: 'api',
    WEBHOOKS_TO_LOOPBACK: 'true',
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    PRIVY_APP_ID: 'bench',
    PRIVY_APP_SECRET: 'bench',
    PRIVY_API_URL: wires.enclave,
    TEST_RPC_URLS: wires.test,
    LIVE_RPC_URLS: wires.live,
  }
}

/** Returns the flags with which `npm run server` starts Node, so that the measured server is the one that users run. */
async function readServerFlags(): Promise<string[]> {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8')
  const { scripts } = JSON.parse(text) as { scripts: Record<string, string> }
  return scripts['server']?.match(/--[a-z-]+(?:=\S+)?/g) ?? []
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => (made ??= make())
}
