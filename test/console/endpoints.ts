import { addConsole } from '../../server/src/console/add-console.ts'
import { CONSOLE_ROUTES, type Route } from '../../server/src/console/contract/all-routes.ts'
import type { Access, InputOf } from '../../server/src/console/contract/route.ts'
import { openHttp } from '../../server/src/http/open-http.ts'
import type { ConsoleServer } from '../support/service/console-server.ts'

/** An endpoint as the contract declares it, with values for calling it in a test. */
export interface Endpoint extends Access {
  readonly method: Route['method']
  readonly url: Route['url']
  /** The URL with the required query. Its path parameters must still be filled in. */
  readonly path: string
  /** A valid body, if the endpoint accepts one. */
  readonly body?: object
}

type Name = `${Route['method']} ${Route['url']}`
/** One body for each endpoint that accepts one. The compiler checks each body against the endpoint's schema. */
type Bodies = {
  readonly [
    One in Route as One['schema'] extends { body: unknown } ? `${One['method']} ${One['url']}` : never
  ]: Readonly<InputOf<One> extends { body: infer Body } ? Body : never>
}

const CREDENTIAL = { id: 'AA', rawId: 'AA', type: 'public-key' } as const
const ASSERTION = {
  response: { ...CREDENTIAL, response: { clientDataJSON: 'AA', authenticatorData: 'AA', signature: 'AA' } },
}
const REGISTRATION = { response: { ...CREDENTIAL, response: { clientDataJSON: 'AA', attestationObject: 'AA' } } }
export const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'
const TERMS = { max_per_tx_usdc: '1', daily_cap_usdc: '1', recipient_allowlist: [], expires_at: null }

const BODIES: Bodies = {
  'POST /console/sign-up/options': { name: 'A' },
  'POST /console/sign-up': REGISTRATION,
  'POST /console/sign-in/options': {},
  'POST /console/sign-in': ASSERTION,
  'POST /console/recovery': { code: 'x' },
  'POST /console/recovery-codes': {},
  'POST /console/verification/options': {},
  'POST /console/verification': ASSERTION,
  'POST /console/sign-out': {},
  'POST /console/sign-out-elsewhere': {},
  'POST /console/passkeys/options': {},
  'POST /console/passkeys': { ...REGISTRATION, name: 'A' },
  'POST /console/wallet-passkeys/options': {},
  'POST /console/wallet-passkeys': { ...REGISTRATION, name: 'A' },
  'PATCH /console/wallet-passkeys/:credential_id': { name: 'A' },
  'PATCH /console/passkeys/:id': { name: 'A' },
  'PATCH /console/user': { name: 'A' },
  'POST /console/workspaces': { name: 'A' },
  'POST /console/invitations/look-up': { token: 'x' },
  'POST /console/invitations/accept': { token: 'x' },
  'PATCH /console/workspaces/:slug': { name: 'A' },
  'PATCH /console/workspaces/:slug/members/:user_id': { role: 'viewer' },
  'POST /console/workspaces/:slug/invitations': { role: 'viewer' },
  'POST /console/workspaces/:slug/agents': { mode: 'test', id: 'a' },
  'PATCH /console/workspaces/:slug/agents/:id': { mode: 'test', label: 'L' },
  'POST /console/workspaces/:slug/wallets': { mode: 'test', name: 'W', credential_id: 'c' },
  'PATCH /console/workspaces/:slug/wallets/:address': { mode: 'test', name: 'W' },
  'POST /console/workspaces/:slug/wallets/:address/faucet': { mode: 'test' },
  'POST /console/workspaces/:slug/wallets/:address/record': { mode: 'test', assertion: ASSERTION.response },
  'POST /console/workspaces/:slug/wallets/:address/owner-requests': {
    mode: 'test',
    change: 'add',
    credential_id: 'AA',
  },
  'POST /console/workspaces/:slug/owner-requests/:id/signature': { assertion: ASSERTION.response },
  'PATCH /console/workspaces/:slug/payments/:id/note': { mode: 'test', note: 'n', category: '', link: '' },
  'POST /console/workspaces/:slug/recipients': { mode: 'test', address: ADDRESS, label: 'L' },
  'POST /console/workspaces/:slug/payments/:id/resolve': { mode: 'test', note: 'Paid back' },
  'POST /console/workspaces/:slug/views': { mode: 'test', name: 'V', query: 'status=failed' },
  'POST /console/workspaces/:slug/grants': { mode: 'test', agent_id: 'a', wallet: ADDRESS, ...TERMS },
  'POST /console/workspaces/:slug/grants/:id/replacement': TERMS,
  'POST /console/workspaces/:slug/grants/:id/signing-request': { change: 'activate' },
  'POST /console/workspaces/:slug/grants/:id/signature': ASSERTION,
  'POST /console/workspaces/:slug/grants/:id/suspend': {},
  'POST /console/workspaces/:slug/stops': { mode: 'test', agent_id: null, wallet: null },
  'POST /console/workspaces/:slug/stops/:id/resume-request': { credential_id: 'AA' },
  'POST /console/workspaces/:slug/stops/:id/resume': { expires_at: '2026-01-01T00:00:00Z', ...ASSERTION },
  'POST /console/workspaces/:slug/grants/:id/resume-request': {},
  'POST /console/workspaces/:slug/grants/:id/resume': { expires_at: '2026-01-01T00:00:00Z', ...ASSERTION },
  'POST /console/workspaces/:slug/withdrawals': { mode: 'test', wallet: ADDRESS, to: ADDRESS, amount_usdc: '1' },
  'POST /console/workspaces/:slug/withdrawals/:id/signature': ASSERTION,
  'POST /console/workspaces/:slug/keys': { mode: 'test', name: 'K' },
  'PATCH /console/workspaces/:slug/keys/:id': { name: 'K' },
  'POST /console/workspaces/:slug/held-keys': { confirm: [] },
  'POST /console/workspaces/:slug/keys/:id/rotate': {},
  'POST /console/workspaces/:slug/keys/:id/revoke': {},
  'POST /console/workspaces/:slug/webhooks': {
    mode: 'test',
    url: 'https://hooks.example/x',
    events: ['payment.confirmed'],
  },
  'PATCH /console/workspaces/:slug/webhooks/:id': { enabled: false },
  'POST /console/workspaces/:slug/webhooks/:id/rotate-secret': {},
  'POST /console/workspaces/:slug/webhooks/:id/test': {},
  'POST /console/workspaces/:slug/webhooks/:id/replay': {
    from: '2026-01-01T00:00:00Z',
    to: '2026-01-02T00:00:00Z',
    only: 'all',
  },
  'POST /console/workspaces/:slug/deliveries/:id/replay': {},
}

/** The values of the query parameters that some endpoints require. */
const QUERY: Readonly<Record<string, string>> = { mode: 'test', period: 'today', zone: 'UTC', by: 'agent' }

/** Every endpoint of the dashboard, as the contract declares it. */
export const ENDPOINTS: readonly Endpoint[] = CONSOLE_ROUTES.map((route) => {
  const { method, url, config } = route
  const body = new Map<string, object>(Object.entries(BODIES)).get(nameOf(route))
  return { method, url, ...config, path: url + queryOf(route), ...(body === undefined ? {} : { body }) }
})

export function nameOf({ method, url }: Pick<Route, 'method' | 'url'>): Name {
  return `${method} ${url}`
}

function queryOf({ schema }: Route): string {
  const required = 'querystring' in schema ? (schema.querystring.required ?? []) : []
  return required.length === 0 ? '' : `?${required.map((name) => `${name}=${QUERY[name]}`).join('&')}`
}

/** Lists every endpoint that the server really has, with the access that it really requires. */
export async function listServedRoutes({ config, context, clock }: ConsoleServer): Promise<object[]> {
  const http = openHttp(config, { clock, logger: context.logger })
  const served: object[] = []
  http.addHook('onRoute', ({ method, url, config: access }) => {
    if (!url.startsWith('/console/') || url.endsWith('*') || method === 'HEAD') return
    served.push({ method, url, needs: access?.needs, proof: access?.proof, bucket: access?.bucket })
  })
  await addConsole(http, context, config)
  await http.ready()
  await http.close()
  return served
}
