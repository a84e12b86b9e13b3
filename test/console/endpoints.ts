import { addConsole } from '../../server/src/console/add-console.ts'
import { openHttp } from '../../server/src/http/open-http.ts'
import type { ConsoleServer } from '../support/service/console-server.ts'

/** Who may call it at the least: `nobody` needs no session, `person` any, the others that role in the workspace. */
type Least = 'nobody' | 'person' | 'viewer' | 'admin'
export type Row = readonly [least: Least, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object]

const W = '/console/workspaces/:slug'
const RESPONSE = { id: 'AA', rawId: 'AA', type: 'public-key' }
const ASSERTION = {
  response: { ...RESPONSE, response: { clientDataJSON: 'AA', authenticatorData: 'AA', signature: 'AA' } },
}
const REGISTRATION = { response: { ...RESPONSE, response: { clientDataJSON: 'AA', attestationObject: 'AA' } } }
export const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'
const TERMS = { max_per_tx_usdc: '1', daily_cap_usdc: '1', recipient_allowlist: [], expires_at: null }
const HOOK = { mode: 'test', url: 'https://hooks.example/x', events: ['payment.confirmed'] }
const RANGE = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', only: 'all' }

/** All of them, each with a body that is well formed: `every-endpoint.test.ts` holds this table to what the server has. */
export const ROWS: readonly Row[] = [
  ['nobody', 'GET', '/console/session'],
  ['nobody', 'POST', '/console/sign-up/options', { name: 'A' }],
  ['nobody', 'POST', '/console/sign-up', REGISTRATION],
  ['nobody', 'POST', '/console/sign-in/options', {}],
  ['nobody', 'POST', '/console/sign-in', ASSERTION],
  ['nobody', 'POST', '/console/recovery', { code: 'x' }],
  ['nobody', 'POST', '/console/sign-out', {}],
  ['nobody', 'POST', '/console/invitations/look-up', { token: 'x' }],
  ['person', 'POST', '/console/sign-out-elsewhere', {}],
  ['person', 'GET', '/console/sessions'],
  ['person', 'DELETE', '/console/sessions/:id'],
  ['person', 'POST', '/console/verification/options', {}],
  ['person', 'POST', '/console/verification', ASSERTION],
  ['person', 'GET', '/console/passkeys'],
  ['person', 'POST', '/console/passkeys/options', {}],
  ['person', 'POST', '/console/passkeys', { ...REGISTRATION, name: 'A' }],
  ['person', 'DELETE', '/console/passkeys/:id'],
  ['person', 'POST', '/console/recovery-codes', {}],
  ['person', 'POST', '/console/workspaces', { name: 'A' }],
  ['person', 'POST', '/console/invitations/accept', { token: 'x' }],
  ['person', 'GET', '/console/authorization-requests/:handle'],
  ['viewer', 'GET', W],
  ['viewer', 'GET', `${W}/plan`],
  ['viewer', 'GET', `${W}/members`],
  ['admin', 'PATCH', `${W}/members/:user_id`, { role: 'viewer' }],
  // Whoever wants to leave may.
  ['viewer', 'DELETE', `${W}/members/:user_id`],
  ['admin', 'GET', `${W}/invitations`],
  ['admin', 'POST', `${W}/invitations`, { role: 'viewer' }],
  ['admin', 'DELETE', `${W}/invitations/:id`],
  ['viewer', 'GET', `${W}/audit`],
  ['viewer', 'GET', `${W}/overview?mode=test&range=7d`],
  ['viewer', 'GET', `${W}/payments?mode=test`],
  ['viewer', 'GET', `${W}/payments/export?mode=test`],
  ['viewer', 'GET', `${W}/payments/:id?mode=test`],
  ['viewer', 'GET', `${W}/refusals?mode=test`],
  ['viewer', 'GET', `${W}/refusals/:id?mode=test`],
  ['viewer', 'GET', `${W}/changes?mode=test`],
  ['viewer', 'GET', `${W}/agents?mode=test`],
  ['admin', 'POST', `${W}/agents`, { mode: 'test', id: 'a' }],
  ['viewer', 'GET', `${W}/agents/:id?mode=test`],
  ['admin', 'DELETE', `${W}/agents/:id?mode=test`],
  ['viewer', 'GET', `${W}/wallets?mode=test`],
  ['admin', 'POST', `${W}/wallets`, { mode: 'test', name: 'W' }],
  ['viewer', 'GET', `${W}/wallets/:address?mode=test`],
  ['admin', 'POST', `${W}/wallets/:address/faucet`, { mode: 'test' }],
  ['viewer', 'GET', `${W}/deposits?mode=test`],
  ['viewer', 'GET', `${W}/grants?mode=test`],
  ['viewer', 'GET', `${W}/grants/:id`],
  ['admin', 'POST', `${W}/grants`, { mode: 'test', agent_id: 'a', wallet: ADDRESS, ...TERMS }],
  ['admin', 'POST', `${W}/grants/:id/replacement`, TERMS],
  ['admin', 'POST', `${W}/grants/:id/signing-request`, { change: 'activate' }],
  ['admin', 'POST', `${W}/grants/:id/signature`, ASSERTION],
  ['admin', 'POST', `${W}/grants/:id/suspend`, {}],
  ['viewer', 'GET', `${W}/recipients?mode=test`],
  ['admin', 'POST', `${W}/recipients`, { mode: 'test', address: ADDRESS, label: 'L' }],
  ['admin', 'DELETE', `${W}/recipients/:address?mode=test`],
  ['viewer', 'GET', `${W}/keys?mode=test`],
  ['admin', 'POST', `${W}/keys`, { mode: 'test', name: 'K' }],
  ['admin', 'POST', `${W}/keys/:id/rotate`, {}],
  ['admin', 'POST', `${W}/keys/:id/revoke`, {}],
  ['viewer', 'GET', `${W}/connections`],
  ['admin', 'DELETE', `${W}/connections/:id`],
  ['viewer', 'GET', `${W}/webhooks?mode=test`],
  ['admin', 'POST', `${W}/webhooks`, HOOK],
  ['viewer', 'GET', `${W}/webhooks/:id`],
  ['admin', 'PATCH', `${W}/webhooks/:id`, { enabled: false }],
  ['admin', 'DELETE', `${W}/webhooks/:id`],
  ['admin', 'POST', `${W}/webhooks/:id/rotate-secret`, {}],
  ['admin', 'POST', `${W}/webhooks/:id/test`, {}],
  ['admin', 'POST', `${W}/webhooks/:id/replay`, RANGE],
  ['viewer', 'GET', `${W}/deliveries?mode=test`],
  ['viewer', 'GET', `${W}/deliveries/:id`],
  ['admin', 'POST', `${W}/deliveries/:id/replay`, {}],
  ['viewer', 'GET', `${W}/events?mode=test`],
  ['viewer', 'GET', `${W}/events/:id?mode=test`],
]

/** Method and path of every endpoint that the server has. */
export async function listConsoleRoutes({ config, context, clock }: ConsoleServer): Promise<string[]> {
  const http = openHttp(config, { clock, logger: context.logger })
  const known: string[] = []
  http.addHook('onRoute', ({ method, url }) => {
    const methods = [method].flat().filter((one) => one !== 'HEAD')
    if (url.startsWith('/console/') && !url.endsWith('*')) known.push(...methods.map((one) => `${one} ${url}`))
  })
  await addConsole(http, context, config)
  await http.ready()
  await http.close()
  return [...new Set(known)]
}
