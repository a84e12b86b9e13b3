import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { addConsole } from '../../server/src/console/add-console.ts'
import type { Account } from '../../server/src/domain/accounts/account.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { addMember } from '../../server/src/domain/people/add-member.ts'
import { openHttp } from '../../server/src/http/open-http.ts'
import { seedAccount } from '../support/connections.ts'
import { openConsoleServer, type ConsoleServer } from '../support/console-server.ts'
import { expectError } from '../support/http-client.ts'
import { readRows } from '../support/read-rows.ts'
import { Browser } from './browser.ts'
import { openVisitor } from './person.ts'

/** Who may call it at the least: `nobody` needs no session, `person` any, the others that role in the workspace. */
type Least = 'nobody' | 'person' | 'viewer' | 'admin'
type Row = readonly [least: Least, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object]

const W = '/console/workspaces/:slug'
const RESPONSE = { id: 'AA', rawId: 'AA', type: 'public-key' }
const ASSERTION = {
  response: { ...RESPONSE, response: { clientDataJSON: 'AA', authenticatorData: 'AA', signature: 'AA' } },
}
const REGISTRATION = { response: { ...RESPONSE, response: { clientDataJSON: 'AA', attestationObject: 'AA' } } }
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'
const TERMS = { max_per_tx_usdc: '1', daily_cap_usdc: '1', recipient_allowlist: [], expires_at: null }
const HOOK = { mode: 'test', url: 'https://hooks.example/x', events: ['payment.confirmed'] }
const RANGE = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', only: 'all' }

/** All of them, each with a body that is well formed: the test below holds this table to what the server has. */
const ROWS: readonly Row[] = [
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

/** D46, D47: what each of them answers to those who may is told by the tests of its topic. */
describe('every endpoint of the dashboard', () => {
  let server: ConsoleServer
  let account: Account
  let viewer: Browser
  let stranger: Browser
  before(async () => {
    server = await openConsoleServer()
    account = await seedAccount(server.context)
    const visitor = await openVisitor(server, 'viewer')
    await addMember(server.context, { account, userId: visitor.userId, role: 'viewer', actor: OPERATOR })
    viewer = visitor.browser
    stranger = (await openVisitor(server, 'stranger')).browser
  })
  after(() => server.close())

  test('is in the table of these tests', async () => {
    const http = openHttp(server.config, { clock: server.clock, logger: server.context.logger })
    const known: string[] = []
    http.addHook('onRoute', ({ method, url }) => {
      const methods = [method].flat().filter((one) => one !== 'HEAD')
      if (url.startsWith('/console/') && !url.endsWith('*')) known.push(...methods.map((one) => `${one} ${url}`))
    })
    await addConsole(http, server.context, server.config)
    await http.ready()
    await http.close()
    const told = ROWS.map(([, method, path]) => `${method} ${path.split('?')[0]}`)
    assert.deepEqual(told.toSorted(), [...new Set(known)].toSorted())
  })

  for (const [least, method, path, body] of ROWS) {
    const change = method !== 'GET'
    test(`${method} ${path}: for ${least}`, async () => {
      const before = await readState()
      const call = (browser: Browser, headers?: readonly string[]) => browser.call(method, fill(path), body, headers)
      const nobody = new Browser(server)
      if (change) {
        for (const browser of [viewer, nobody]) {
          const crossSite = ['sec-fetch-site', 'cross-site', 'origin', 'https://evil.example']
          expectError(await call(browser, crossSite), { type: 'forbidden', code: 'cross_origin' })
        }
      }
      if (least !== 'nobody') {
        assert.equal(expectError(await call(nobody), { type: 'unauthenticated' }).code, undefined)
      }
      if (least === 'viewer' || least === 'admin') expectError(await call(stranger), { type: 'not_found' })
      if (least === 'admin') expectError(await call(viewer), { type: 'forbidden', code: 'role_insufficient' })
      assert.equal(await readState(), before, 'nothing was left behind')
    })
  }

  /** Ids of nothing: whoever is refused is told so before anything is looked for. */
  function fill(path: string): string {
    return path.replace(':slug', account.slug).replace(':address', ADDRESS).replaceAll(/:\w+/g, 'x')
  }

  async function readState(): Promise<string> {
    const tables = ['accounts', 'members', 'invitations', 'agents', 'wallets', 'grants', 'api_keys', 'recipients']
    const more = ['webhook_endpoints', 'deliveries', 'events', 'audit_entries', 'users', 'passkeys', 'sessions']
    const sums = [...tables, ...more].map(
      (table) => `select md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) as sum from ${table} t`,
    )
    return (await readRows(server.context.db, sums.join(' union all '))).map((row) => String(row['sum'])).join(' ')
  }
})
