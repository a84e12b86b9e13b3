import { readConfig } from '../../../server/src/config.ts'
import { openHttp } from '../../../server/src/http/open-http.ts'
import { createClock } from '../../../server/src/lib/clock.ts'
import { createLogger } from '../../../server/src/lib/logger.ts'
import { openContext } from '../../../server/src/service.ts'
import { CHAIN_IDS, LOOPBACK, type Addresses, type Mode } from '../addresses.ts'
import { usdcAddress } from '../chain/deploy-usdc.ts'
import type { Chain } from '../chain/start-chain.ts'
import type { Seller } from '../processes/seller.ts'
import type { Environment } from '../processes/environments.ts'
import type { Supervisor } from '../processes/supervisor.ts'
import type { SandboxFacts } from '../state/sandbox-facts.ts'
import type { DemoMode, StateFile } from '../state/sandbox-state.ts'
import { ENDPOINTS } from './endpoints.ts'
import { trackMining } from './track-mining.ts'
import { ensureInvitation } from './ensure-invitation.ts'
import { connectEnclaveControl } from './enclave-control.ts'
import { connectSellerControl } from './seller-control.ts'
import { logServerErrors } from './log-server-errors.ts'
import { allowEmptyBodies } from './allow-empty-bodies.ts'
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
import type { ControlContext } from './control-context.ts'

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
