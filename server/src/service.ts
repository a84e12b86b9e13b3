import type { RequestListener, Server } from 'node:http'
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { addApi } from './api/add-api.ts'
import { addConsole } from './console/add-console.ts'
import { createSessionReader } from './console/read-session.ts'
import { openChain } from './chain/open-chain.ts'
import type { Config } from './config.ts'
import { Database } from './db/database.ts'
import { migrate } from './db/migrate.ts'
import type { Context } from './domain/context.ts'
import { BalanceSnapshots } from './chain/balance-snapshots.ts'
import { openEnclave } from './enclave/open-enclave.ts'
import { addHealth } from './http/add-health.ts'
import { KEEP_ALIVE_STOPPING_MS } from './http/limits.ts'
import { createHttpServer, openHttp, type HttpServer } from './http/open-http.ts'
import { createClock, type MovableClock } from './lib/clock.ts'
import type { Loop } from './lib/loop.ts'
import { createLogger, type Logger } from './lib/logger.ts'
import { createSealer } from './lib/sealing.ts'
import { addOauth } from './oauth/add-oauth.ts'
import { watchChain } from './jobs/watch-chain.ts'
import { watchDeposits } from './jobs/watch-deposits.ts'
import { sendWebhooks } from './jobs/send-webhooks.ts'
import { cleanUp } from './jobs/clean-up.ts'
import { reconcilePayments } from './jobs/reconcile-payments.ts'

/** Shorter than the time after which an attempt's signed request expires (`ATTEMPT_MS`). */
const ENCLAVE_TIMEOUT_MS = 8_000
/** Longer than any of our requests takes, and shorter than the time that `main.ts` allows for the whole stop. */
const STOP_GRACE_MS = 15_000

/** Opens the connections that the domain needs, and nothing else. */
export function openContext(config: Config, { clock, logger }: { clock: MovableClock; logger: Logger }) {
  const deps = { clock, logger }
  const enclave = openEnclave({ ...config.enclave, timeoutMs: ENCLAVE_TIMEOUT_MS }, deps)
  const chains = { test: openChain(config.chains.test, deps), live: openChain(config.chains.live, deps) }
  const db = new Database(config.database, logger)
  const context: Context = {
    db,
    clock,
    logger,
    sealer: createSealer(config.encryptionKey),
    enclave,
    chains,
    balances: new BalanceSnapshots(clock),
    outbound: { allowLoopback: config.webhooksToLoopback, ownOrigins: [config.baseUrl, config.authUrl] },
    relyingParty: { id: new URL(config.authUrl).hostname, origin: config.authUrl },
  }
  const close = async (): Promise<void> => {
    await db.close()
    chains.test.close()
    chains.live.close()
    enclave.close()
  }
  return { context, close }
}

export interface Service {
  /** The ports on which the service listens, `port` first. */
  readonly ports: readonly number[]
  readonly production: boolean
  readonly clock: MovableClock
  readonly logger: Logger
  /** Finishes requests in progress, gives leases back and closes connections. */
  stop(): Promise<void>
}

/** Builds the service from its configuration, applies migrations, and starts the parts of its role. */
export async function openService(config: Config): Promise<Service> {
  const clock = createClock(config.clockOffsetMs)
  const logger = createLogger(config.logLevel)
  await migrate(config.database.url, clock, { logger })
  const { context, close } = openContext(config, { clock, logger })
  const { db, chains, enclave } = context

  const http = openHttp(config, { clock, logger })
  addHealth(http, {
    database: () => db.ping(),
    test_chain: () => chains.test.checkChainId(),
    live_chain: () => chains.live.checkChainId(),
    enclave: () => enclave.checkReachable(),
  })
  if (config.role !== 'worker') await addDoors(http, context, config)
  await http.listen({ host: config.host, port: config.port })
  const servers = [http.server]
  if (config.authPort !== null) {
    const routing: RequestListener = (request, response) => http.routing(request, response)
    servers.push(await listenOnSecondPort(createHttpServer(routing, { clock }), config.host, config.authPort))
  }
  const loops = config.role === 'api' ? [] : startJobs(context)
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  logger.info({ role: config.role, ports }, 'ready')

  return {
    ports,
    production: config.production,
    clock,
    logger,
    async stop() {
      for (const server of servers) server.keepAliveTimeout = KEEP_ALIVE_STOPPING_MS
      // A connection that never finishes its request must not hold up the stop for ever.
      const grace = setTimeout(() => servers.forEach((server) => server.closeAllConnections()), STOP_GRACE_MS)
      const others = servers.slice(1).map(closeServer)
      await Promise.all([http.close(), ...others, ...loops.map((loop) => loop.stop())])
      clearTimeout(grace)
      await close()
    },
  }
}

/** Adds the doors. If one door needs something of another, it gets it here, because doors never import each other. */
async function addDoors(http: HttpServer, context: Context, config: Config): Promise<void> {
  await addApi(http, context, config)
  await addConsole(http, context, config)
  await addOauth(http, context, { ...config, readSession: createSessionReader(context, config) })
}

function startJobs(context: Context): Loop[] {
  const holder = randomUUID()
  return [
    watchChain(context, { mode: 'test', holder }),
    watchChain(context, { mode: 'live', holder }),
    watchDeposits(context, { mode: 'test', holder }),
    watchDeposits(context, { mode: 'live', holder }),
    sendWebhooks(context),
    reconcilePayments(context, { holder }),
    cleanUp(context, { holder }),
  ]
}

/** Listens on a second port with the same routes, for the second origin (D1). */
async function listenOnSecondPort(server: Server, host: string, port: number): Promise<Server> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return server
}

async function closeServer(server: Server): Promise<void> {
  server.closeIdleConnections()
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
}
