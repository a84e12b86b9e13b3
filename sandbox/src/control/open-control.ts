import type { FastifyRequest } from 'fastify'
import { readConfig } from '../../../server/src/config.ts'
import { readArrivedBody } from '../../../server/src/http/arriving-bodies.ts'
import { type HttpServer, openHttp } from '../../../server/src/http/open-http.ts'
import { createClock } from '../../../server/src/lib/clock.ts'
import { createLogger } from '../../../server/src/lib/logger.ts'
import { openContext } from '../../../server/src/service.ts'
import { type Addresses, CHAIN_IDS, LOOPBACK, type Mode } from '../addresses.ts'
import { usdcAddress } from '../chain/deploy-usdc.ts'
import type { Chain } from '../chain/start-chain.ts'
import type { Seller } from '../processes/seller.ts'
import type { Environment } from '../processes/environments.ts'
import type { Supervisor } from '../processes/supervisor.ts'
import type { SandboxFacts } from '../state/sandbox-facts.ts'
import type { DemoMode, StateFile } from '../state/sandbox-state.ts'
import { ENDPOINTS } from './endpoints.ts'
import { ensureInvitation } from './ensure-invitation.ts'
import { connectEnclaveControl } from './enclave-control.ts'
import { connectSellerControl } from './seller-control.ts'
import { addChainRoutes } from './routes/chains.ts'
import { addClockRoutes } from './routes/clock.ts'
import { addConsentRoute } from './routes/consent.ts'
import { addEnclaveRoutes } from './routes/enclave.ts'
import { addFaucetRoutes } from './routes/faucet.ts'
import { addGrantRoutes } from './routes/grants.ts'
import { addKeyRoutes } from './routes/keys.ts'
import { addSellerRoutes } from './routes/seller.ts'
import { addWebhookRoutes } from './routes/webhooks.ts'
import { addWorkspaceRoutes } from './routes/workspaces.ts'
import { DEMO_AGENT, DEMO_SLUG, seedDemo } from './seed-demo.ts'
import type { ControlContext, ControlledChain } from './control-context.ts'
import { Problem } from '../../../server/src/values/problem.ts'
import { closeSync, writeSync } from 'node:fs'
import { toProblem } from '../../../server/src/http/to-problem.ts'
import { openLog } from '../lib/program-log.ts'

export interface ControlOptions {
  /** The server's environment. The control API runs the server's operations, so it uses the same configuration. */
  readonly env: Environment
  readonly addresses: Addresses
  readonly state: StateFile
  readonly chains: Readonly<Record<Mode, Chain>>
  readonly fleet: Supervisor
  readonly seller: Seller
  readonly logFile: string
  /** Called when the sandbox's facts have changed since the start. */
  readonly onFactsChanged: (facts: SandboxFacts) => void
}

export interface Control {
  readonly facts: SandboxFacts
  close(): Promise<void>
}

/**
 * The control API handles one request at a time, so it needs few of PostgreSQL's connections. The rest are for the
 * server.
 */
const CONNECTIONS_MAX = 4

/**
 * Creates the demo workspace if it does not exist, and starts to listen. The server must already have migrated the
 * database.
 */
export async function openControl(options: ControlOptions): Promise<Control> {
  const { addresses, state } = options
  const config = readConfig({ ...options.env, DATABASE_CONNECTIONS: String(CONNECTIONS_MAX) })
  const clock = createClock(state.current.clockOffsetMs)
  // The terminal shows only what the person who started the sandbox needs, so `logServerErrors` writes errors to a
  // file.
  const logger = createLogger('silent')
  const { context, close: closeContext } = openContext(config, { clock, logger })
  const control: ControlContext = {
    context,
    addresses,
    state,
    chains: { test: trackMining(options.chains.test), live: trackMining(options.chains.live) },
    enclave: connectEnclaveControl({ url: addresses.enclaveUrl, token: state.current.enclave.controlToken }),
    seller: connectSellerControl({
      url: addresses.sellerUrl,
      token: state.current.enclave.controlToken,
      seller: options.seller,
    }),
    setClockOffset: async (offsetMs) => {
      state.update({ clockOffsetMs: offsetMs })
      clock.setOffset(offsetMs)
      await options.fleet.setClockOffset(offsetMs)
      // The invitation expires by the sandbox's clock. If the clock is now past the invitation's expiry time,
      // `describe` creates a new invitation.
      const before = facts
      facts = await describe()
      if (before?.workspace.invite_url !== facts.workspace.invite_url) options.onFactsChanged(facts)
    },
  }
  const describe = async (): Promise<SandboxFacts> =>
    describeSandbox(addresses, await seedDemo(control), await ensureInvitation(control))
  let facts: SandboxFacts | null = null
  const http = openHttp({ production: false, trustedProxies: [] }, { clock, logger })
  const close = async (): Promise<void> => {
    await http.close()
    await closeContext()
  }
  try {
    const first = (facts = await describe())
    logServerErrors(http, options.logFile)
    allowEmptyBodies(http)
    http.addHook('onRoute', checkEndpoint)
    http.get('/', () => ({ ...facts, now: clock.now().toISOString(), endpoints: ENDPOINTS }))
    for (const add of ROUTES) add(http, control)
    await http.listen({ host: LOOPBACK, port: addresses.ports.control })
    return { facts: first, close }
  } catch (error) {
    await close()
    throw error
  }
}

const ROUTES = [
  addWorkspaceRoutes,
  addKeyRoutes,
  addGrantRoutes,
  addWebhookRoutes,
  addConsentRoute,
  addFaucetRoutes,
  addClockRoutes,
  addChainRoutes,
  addEnclaveRoutes,
  addSellerRoutes,
] as const

/** Throws if an endpoint is added that `GET /` does not list. */
function checkEndpoint({ method, url }: { readonly method: string | readonly string[]; readonly url: string }): void {
  for (const name of [method].flat().map((verb) => `${verb} ${url}`)) {
    if (!name.startsWith('HEAD') && !(name in ENDPOINTS)) throw new Error(`${name} is missing from ENDPOINTS.`)
  }
}

function describeSandbox(
  addresses: Addresses,
  demo: Readonly<Record<Mode, DemoMode>>,
  inviteUrl: string,
): SandboxFacts {
  const describeChain = (mode: Mode) => ({ id: CHAIN_IDS[mode], rpc_url: addresses.rpcUrls[mode], usdc: usdcAddress })
  return {
    base_url: addresses.baseUrl,
    auth_url: addresses.authUrl,
    control_url: addresses.controlUrl,
    enclave_url: addresses.enclaveUrl,
    seller_url: addresses.sellerUrl,
    chains: { test: describeChain('test'), live: describeChain('live') },
    workspace: {
      slug: DEMO_SLUG,
      keys: { test: demo.test.key, live: demo.live.key },
      wallets: { test: demo.test.wallet, live: demo.live.wallet },
      agent_id: DEMO_AGENT,
      invite_url: inviteUrl,
    },
  }
}

/**
 * Accepts an empty body with the content type `application/json`, because some routes take no body and many clients
 * send the header anyway.
 */
function allowEmptyBodies(http: HttpServer): void {
  http.removeContentTypeParser('application/json')
  http.addContentTypeParser('application/json', async (request: FastifyRequest): Promise<unknown> => {
    const text = readArrivedBody(request).toString('utf8')
    try {
      return text === '' ? undefined : JSON.parse(text)
    } catch (cause) {
      throw new Problem('validation_failed', 'The body is not valid JSON.', { cause })
    }
  })
}

/**
 * Writes each error with a status of 500 or above to a file, as one line of JSON. The line includes the cause, which
 * the response does not contain.
 */
function logServerErrors(http: HttpServer, file: string): void {
  const log = openLog(file)
  http.addHook('onError', async (request, _reply, error) => {
    if (toProblem(error).status < 500) return
    const { stack, cause } = error
    const line = { request: request.id, route: request.routeOptions.url, stack, cause: describeCause(cause) }
    writeSync(log, `${JSON.stringify(line)}\n`)
  })
  http.addHook('onClose', async () => closeSync(log))
}

function describeCause(cause: unknown): unknown {
  return cause instanceof Error ? { stack: cause.stack, cause: describeCause(cause.cause) } : cause
}

/** Wraps a chain so that it also records whether it mines blocks automatically. */
function trackMining(chain: Chain): ControlledChain {
  let mining = true
  return {
    ...chain,
    get mining() {
      return mining
    },
    setMining: (enabled) => {
      chain.setMining(enabled)
      mining = enabled
    },
  }
}
