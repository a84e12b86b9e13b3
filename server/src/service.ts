import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { addApi } from './api/add-api.ts'
import { identifyCaller } from './api/authenticate.ts'
import { addConsole } from './console/add-console.ts'
import { createSessionReader } from './console/read-session.ts'
import { openChain } from './chain/open-chain.ts'
import type { Config } from './config.ts'
import { Database, poolsFor } from './db/database.ts'
import { DeferredWrites } from './db/deferred-writes.ts'
import { migrate } from './db/migrate.ts'
import { BASELINE, readMigrations } from './db/migration.ts'
import { hasMigration, requireSchema } from './db/require-schema.ts'
import { LOG_KEY, ServerKey, SUCCESSOR_KEY } from './db/server-key.ts'
import type { Context, RelyingParty } from './domain/context.ts'
import { checkEncryptionKeys } from './domain/encryption-keys/check-encryption-keys.ts'
import { KeptCheckpoint, requireKeptCheckpoint } from './domain/transparency-log/keep-checkpoint.ts'
import { OutboundTrace } from './domain/outbound-requests/trace-outbound-requests.ts'
import { ReservationQueue } from './domain/payment-requests/reserve-in-turn.ts'
import { openPaymentWaits } from './domain/reconciliation/wait-for-payment.ts'
import { BalanceSnapshots } from './chain/balance-snapshots.ts'
import { measureEnclave } from './enclave/measure-enclave.ts'
import { openEnclave } from './enclave/privy/open-enclave.ts'
import { addDocs } from './http/add-docs.ts'
import { addHealth } from './http/add-health.ts'
import { addSignerPage } from './http/add-signer-page.ts'
import { DashboardMessage } from './http/hosts.ts'
import { KEEP_ALIVE_STOPPING_MS } from './http/limits.ts'
import { listenOnPort, type SharedPlace } from './http/listen-on-port.ts'
import { createHttpServer, openHttp, type HttpServer } from './http/open-http.ts'
import { createClock, type MovableClock } from './lib/clock.ts'
import { FailureLog } from './lib/failure-log.ts'
import type { Loop } from './lib/loop.ts'
import { createLogger, type Logger } from './lib/logger.ts'
import { NOT_MEASURED, type Measurements } from './lib/measurements.ts'
import { startMemoryRelease } from './lib/memory-release.ts'
import { openEgressProxy } from './lib/outbound/egress-proxy.ts'
import { openOutbound } from './lib/outbound/open-outbound.ts'
import { createSealer } from './lib/sealing.ts'
import { SharedReads } from './lib/shared-reads.ts'
import { originOfLog } from './http/log-path.ts'
import { openMetrics } from './metrics/open-metrics.ts'
import { addMcp } from './mcp/add-mcp.ts'
import { addOauth } from './oauth/add-oauth.ts'
import { watchAuthorizations } from './jobs/watch-authorizations.ts'
import { watchBalances } from './jobs/watch-balances.ts'
import { watchChain } from './jobs/watch-chain.ts'
import { watchDeposits } from './jobs/watch-deposits.ts'
import { sendWebhooks } from './jobs/send-webhooks.ts'
import { cleanUp } from './jobs/clean-up.ts'
import { reconcilePayments } from './jobs/reconcile-payments.ts'
import { renewSecrets } from './jobs/renew-secrets.ts'
import { sumPayments } from './jobs/sum-payments.ts'
import { growLog } from './jobs/grow-log.ts'
import { watchGrants } from './jobs/watch-grants.ts'
import { compareLedgers } from './jobs/compare-ledgers.ts'
import { watchMonths } from './jobs/watch-months.ts'

/**
 * The time limit of one call to the enclave. It is shorter than the time after which the signed request of a payment
 * expires (`ATTEMPT_MS`).
 */
const ENCLAVE_TIMEOUT_MS = 8_000
/**
 * How long a stop waits for requests in progress. A request takes longer only if several of the database, the enclave
 * and the chain are very slow. Shorter than the time that `main.ts` allows for the whole stop.
 */
const STOP_GRACE_MS = 15_000

function toRelyingParty(origin: string): RelyingParty {
  return { id: new URL(origin).hostname, origin }
}

/** Opens the connections that the domain needs, and nothing else. */
export function openContext(
  config: Config,
  {
    clock,
    logger,
    measurements = NOT_MEASURED,
  }: { clock: MovableClock; logger: Logger; measurements?: Measurements | undefined },
) {
  const pools = poolsFor(config.database)
  const proxy = openEgressProxy(config.egressProxy, { logger, measurements })
  const deps = { clock, logger, pools, measurements, proxy }
  const driver = openEnclave({ ...config.enclave, timeoutMs: ENCLAVE_TIMEOUT_MS }, deps)
  const enclave = measurements === NOT_MEASURED ? driver : measureEnclave(driver, measurements)
  const chains = { test: openChain(config.chains.test, deps), live: openChain(config.chains.live, deps) }
  const db = new Database(config.database, logger, pools, measurements)
  const deferredWrites = new DeferredWrites(db, logger)
  const sealer = createSealer(config.encryptionKeys)
  const outbound = {
    allowLoopback: config.webhooksToLoopback,
    ownOrigins: [config.baseUrl, config.authUrl],
    proxy,
    contact: config.outboundContact ?? config.baseUrl,
  }
  const resources = openOutbound({ policy: outbound, clock })
  const context: Context = {
    db,
    deferredWrites,
    outboundTrace: new OutboundTrace(deferredWrites),
    clock,
    logger,
    failures: new FailureLog(logger),
    measurements,
    sealer,
    successorKey: new ServerKey({ db, sealer, clock }, SUCCESSOR_KEY),
    transparencyLog: {
      origin: originOfLog(config),
      key: new ServerKey({ db, sealer, clock }, LOG_KEY),
      kept: config.logCheckpointFile === null ? null : new KeptCheckpoint(config.logCheckpointFile),
    },
    enclave,
    chains,
    balances: new BalanceSnapshots(clock),
    ledger: { compared: new Map(), newestPayment: null, missedPayment: null },
    webhooksExamined: { hanging: { workspaceId: '', id: '' }, prompt: { workspaceId: '', id: '' } },
    cell: config.cell,
    eventsExamined: { workspaceId: '' },
    outboundRetentionMs: config.outboundRetentionMs,
    walletSlots: config.walletSlots,
    outbound,
    resources,
    reservations: new ReservationQueue(db, measurements),
    pools,
    paymentReads: new SharedReads(),
    paymentWaits: openPaymentWaits({ db, logger, pools }),
    relyingParty: toRelyingParty(config.authUrl),
    signer: config.signerUrl === null ? null : toRelyingParty(config.signerUrl),
  }
  const close = async (): Promise<void> => {
    resources.close()
    context.outboundTrace.flush()
    await deferredWrites.close()
    await db.close()
    chains.test.close()
    chains.live.close()
    enclave.close()
  }
  return { context, close }
}

export interface Service {
  /** The ports on which the service listens. The `port` of the configuration comes first. */
  readonly ports: readonly number[]
  /** The port on which the service serves its metrics; null if it serves none. */
  readonly metricsPort: number | null
  readonly production: boolean
  readonly clock: MovableClock
  readonly logger: Logger
  /**
   * Reports on `/readyz` that the service stops, and releases the leases of background jobs. After the configured delay,
   * accepts no more connections, finishes the requests in progress, and closes. A second call ends the delay.
   */
  stop(): Promise<void>
}

/**
 * Builds the service from its configuration, applies migrations unless `MIGRATE` is off, and starts the parts that belong to its role: the
 * endpoints, the background jobs, or both.
 */
export async function openService(config: Config): Promise<Service> {
  const clock = createClock(config.clockOffsetMs)
  const logger = createLogger(config.logLevel)
  if (config.production && config.outboundContact === null) {
    logger.warn('OUTBOUND_CONTACT is not set: requests to other servers name only BASE_URL as our contact')
  }
  if (config.migrates) await migrate(config.database.url, clock, { logger })
  else await requireSchema(config.database.url, clock)
  const metrics = config.metrics === null ? null : openMetrics(config.metrics, { role: config.role, clock, logger })
  const traces = await openTracesIfSet(config, { logger, measurements: metrics?.measurements })
  const measurements = traces?.measurements ?? metrics?.measurements
  const { context, close } = openContext(config, { clock, logger, measurements })
  const { db, chains, enclave } = context
  try {
    await checkEncryptionKeys(context, config.encryptionKeys)
    await requireKeptCheckpoint(context)
  } catch (error) {
    await close()
    throw error
  }

  const http = openHttp(config, context)
  // The signer page is added first: its hook must run before all other routes, so that none of them exists on the
  // page's host.
  if (config.role !== 'worker') await addSignerPage(http, config)
  const newest = (await readMigrations()).at(-1)?.version ?? BASELINE
  addHealth(http, {
    needed: {
      database: () => db.ping(),
      schema: async () => {
        if (!(await db.read(hasMigration(newest)))) throw new Error('the database does not have the newest migration')
      },
    },
    outside: {
      test_chain: () => chains.test.checkChainId(),
      live_chain: () => chains.live.checkChainId(),
      enclave: () => enclave.checkReachable(),
    },
  })
  if (config.role !== 'worker') await addDoors(http, context, config)
  const { host } = config
  const listeners = await listenOnPort(http.server, { host, port: config.port }, (options) => http.listen(options))
  const servers = [http.server]
  const routing: RequestListener = (request, response) => http.routing(request, response)
  // All ports have the same routes, apart from those of the dashboard (D1, D1a).
  const others = [
    ...(config.authPort === null ? [] : [{ host, port: config.authPort, messages: IncomingMessage }]),
    ...(config.dashboard === null ? [] : [{ ...config.dashboard, messages: DashboardMessage }]),
  ]
  for (const { messages, ...place } of others) {
    const server = createHttpServer(routing, { clock, messages })
    const listen = (options: SharedPlace): Promise<unknown> => once(server.listen(options), 'listening')
    listeners.push(...(await listenOnPort(server, place, listen)))
    servers.push(server)
  }
  const metricsServer = (await metrics?.listen(context, http.overloadGate)) ?? null
  const loops = config.role === 'api' ? [] : startJobs(context, config)
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  const stopMemoryRelease = startMemoryRelease(() => http.overloadGate.turnedAway, { logger })
  const metricsPort = metricsServer?.port ?? null
  logger.info({ role: config.role, ports, metricsPort }, 'ready')

  const hurry = new AbortController()
  let stopped: Promise<void> | null = null

  return {
    ports,
    metricsPort,
    production: config.production,
    clock,
    logger,
    stop() {
      if (stopped === null) stopped = stop()
      else hurry.abort()
      return stopped
    },
  }

  async function stop(): Promise<void> {
    http.shutdown.hasBegun = true
    const jobs = Promise.all(loops.map((loop) => loop.stop()))
    // Until the delay is over, load balancers find out, and send their requests to other processes.
    await delay(config.stopDelayMs, undefined, { signal: hurry.signal }).catch(() => undefined)
    stopMemoryRelease()
    for (const server of servers) server.keepAliveTimeout = KEEP_ALIVE_STOPPING_MS
    // Connections that are still open after `STOP_GRACE_MS` are closed, so they do not delay the stop any longer.
    const grace = setTimeout(() => servers.forEach((server) => server.closeAllConnections()), STOP_GRACE_MS)
    servers.forEach((server) => server.closeIdleConnections())
    const closed = [...listeners, ...servers.slice(1)].map(closeServer)
    await Promise.all([http.close(), ...closed, jobs])
    clearTimeout(grace)
    await metricsServer?.close()
    await close()
    await traces?.close()
  }
}

/** The packages of OpenTelemetry are loaded only if traces are kept. */
async function openTracesIfSet(
  { role, traces }: Config,
  { logger, measurements = NOT_MEASURED }: { logger: Logger; measurements?: Measurements | undefined },
) {
  if (traces === null) return null
  const { openTraces } = await import('./traces/open-traces.ts')
  return openTraces(traces, { measurements, role, logger })
}

/**
 * Adds the four entry points with endpoints: the REST API, the dashboard, the MCP server and OAuth. Entry points never
 * import each other, so what one of them needs from another is passed to it here.
 */
async function addDoors(http: HttpServer, context: Context, config: Config): Promise<void> {
  await addDocs(http, config)
  await addApi(http, context, config)
  await addConsole(http, context, config)
  await addMcp(http, context, {
    ...config,
    identifyCaller: (request, reply, requirements) =>
      identifyCaller(context, { request, reply, origins: config, requirements }),
  })
  await addOauth(http, context, { ...config, readSession: createSessionReader(context, config) })
}

function startJobs(context: Context, { encryptionKeys }: Config): Loop[] {
  const holder = randomUUID()
  return [
    watchChain(context, { mode: 'test', holder }),
    watchChain(context, { mode: 'live', holder }),
    watchAuthorizations(context, { mode: 'test', holder }),
    watchAuthorizations(context, { mode: 'live', holder }),
    watchDeposits(context, { mode: 'test', holder }),
    watchDeposits(context, { mode: 'live', holder }),
    sendWebhooks(context),
    reconcilePayments(context, { holder }),
    growLog(context, { holder }),
    watchGrants(context, { holder }),
    sumPayments(context, { mode: 'test', holder }),
    sumPayments(context, { mode: 'live', holder }),
    watchBalances(context, { mode: 'test', holder }),
    watchBalances(context, { mode: 'live', holder }),
    compareLedgers(context, { mode: 'test', holder }),
    compareLedgers(context, { mode: 'live', holder }),
    watchMonths(context, { mode: 'test', holder }),
    watchMonths(context, { mode: 'live', holder }),
    cleanUp(context, { holder }),
    renewSecrets(context, { holder, keys: encryptionKeys }),
  ]
}

async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
}
