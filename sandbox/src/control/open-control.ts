import { readConfig } from '../../../server/src/config.ts'
import { openHttp } from '../../../server/src/http/open-http.ts'
import { createClock } from '../../../server/src/lib/clock.ts'
import { createLogger } from '../../../server/src/lib/logger.ts'
import { openContext } from '../../../server/src/service.ts'
import { CHAIN_IDS, LOOPBACK, type Addresses, type Mode } from '../addresses.ts'
import { usdcAddress } from '../chain/deploy-usdc.ts'
import type { Chain } from '../chain/start-chain.ts'
import type { Environment } from '../processes/environments.ts'
import type { Supervisor } from '../processes/supervisor.ts'
import type { SandboxFacts } from '../state/sandbox-facts.ts'
import type { DemoMode, StateFile } from '../state/sandbox-state.ts'
import { ENDPOINTS } from './endpoints.ts'
import { controlChain } from './controlled-chain.ts'
import { ensureInvitation } from './ensure-invitation.ts'
import { connectEnclaveControl } from './enclave-control.ts'
import { logFaults } from './log-faults.ts'
import { allowEmptyBodies } from './allow-empty-bodies.ts'
import { addChainRoutes } from './routes/chains.ts'
import { addClockRoutes } from './routes/clock.ts'
import { addConsentRoute } from './routes/consent.ts'
import { addEnclaveRoutes } from './routes/enclave.ts'
import { addFaucetRoutes } from './routes/faucet.ts'
import { addGrantRoutes } from './routes/grants.ts'
import { addKeyRoutes } from './routes/keys.ts'
import { addWebhookRoutes } from './routes/webhooks.ts'
import { addWorkspaceRoutes } from './routes/workspaces.ts'
import { DEMO_AGENT, DEMO_SLUG, seedDemo } from './seed-demo.ts'
import type { ControlContext } from './control-context.ts'

export interface ControlOptions {
  /** The server's own environment: the control API drives the product's operations with the same configuration. */
  readonly env: Environment
  readonly addresses: Addresses
  readonly state: StateFile
  readonly chains: Readonly<Record<Mode, Chain>>
  readonly fleet: Supervisor
  readonly logFile: string
  /** Told when the facts are others than at the start. */
  readonly onFactsChanged: (facts: SandboxFacts) => void
}

export interface Control {
  readonly facts: SandboxFacts
  close(): Promise<void>
}

/** People act one at a time; the server keeps the rest of PostgreSQL's connections. */
const CONNECTIONS_MAX = 4

/** Makes the demo workspace where it is not there yet, and listens. Needs a server that has brought the schema up to date. */
export async function openControl(options: ControlOptions): Promise<Control> {
  const { addresses, state } = options
  const config = readConfig({ ...options.env, DATABASE_CONNECTIONS: String(CONNECTIONS_MAX) })
  const clock = createClock(state.current.clockOffsetMs)
  // The terminal is for the person who started it; what goes wrong is written to a file by `logFaults`.
  const logger = createLogger('silent')
  const { context, close: closeContext } = openContext(config, { clock, logger })
  const world: ControlContext = {
    context,
    addresses,
    state,
    chains: { test: controlChain(options.chains.test), live: controlChain(options.chains.live) },
    enclave: connectEnclaveControl({ url: addresses.enclaveUrl, token: state.current.enclave.controlToken }),
    setClockOffset: async (offsetMs) => {
      state.update({ clockOffsetMs: offsetMs })
      clock.setOffset(offsetMs)
      await options.fleet.setClockOffset(offsetMs)
      // The invitation ends like everything else: beyond its end there is a new one.
      const before = facts
      facts = await describe()
      if (before?.workspace.invite_url !== facts.workspace.invite_url) options.onFactsChanged(facts)
    },
  }
  const describe = async (): Promise<SandboxFacts> =>
    describeSandbox(addresses, await seedDemo(world), await ensureInvitation(world))
  let facts: SandboxFacts | null = null
  const http = openHttp({ production: false, trustedProxies: [] }, { clock, logger })
  const close = async (): Promise<void> => {
    await http.close()
    await closeContext()
  }
  try {
    const first = (facts = await describe())
    logFaults(http, options.logFile)
    allowEmptyBodies(http)
    http.addHook('onRoute', checkEndpoint)
    http.get('/', () => ({ ...facts, now: clock.now().toISOString(), endpoints: ENDPOINTS }))
    for (const add of ROUTES) add(http, world)
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
] as const

/** An address that `GET /` would not tell can't be added. */
function checkEndpoint({ method, url }: { readonly method: string | readonly string[]; readonly url: string }): void {
  for (const name of [method].flat().map((verb) => `${verb} ${url}`)) {
    if (!name.startsWith('HEAD') && !(name in ENDPOINTS)) throw new Error(`${name} is missing in ENDPOINTS.`)
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
