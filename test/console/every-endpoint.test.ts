import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { enforceAccess } from '../../server/src/console/enforce-access.ts'
import { READS } from '../../server/src/console/contract/route.ts'
import type { Workspace } from '../../server/src/domain/workspaces/workspace.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import { may } from '../../server/src/values/role.ts'
import { openHttp } from '../../server/src/http/open-http.ts'
import { ATTEMPT_LIMITS } from '../../server/src/limiter/attempts.ts'
import { seedWorkspace } from '../support/context/connection-rows.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError } from '../support/http-client.ts'
import { readRows } from '../support/database/read-rows.ts'
import { Browser } from './browser.ts'
import { ADDRESS, ENDPOINTS, listServedRoutes } from './endpoints.ts'
import { openVisitor } from './person.ts'

const OWNER_TABLES = ['wallet_passkeys', 'wallet_owners', 'owner_requests']

/**
 * These tests call every endpoint as callers who are not allowed to use it (D46, D47). The other files in this folder
 * test the responses to callers who are allowed to use the endpoints.
 */
describe('every endpoint of the dashboard', () => {
  let server: ConsoleServer
  let workspace: Workspace
  let viewer: Browser
  let stranger: Browser
  before(async () => {
    server = await openConsoleServer()
    workspace = await seedWorkspace(server.context)
    const visitor = await openVisitor(server, 'viewer')
    await addMember(server.context, { workspace, userId: visitor.userId, role: 'viewer', actor: OPERATOR })
    viewer = visitor.browser
    stranger = (await openVisitor(server, 'stranger')).browser
  })
  after(() => server.close())

  test('is declared in the contract, and requires what it declares', async () => {
    const served = await listServedRoutes(server)
    const declared = ENDPOINTS.map(({ method, url, needs, proof, bucket }) => ({ method, url, needs, proof, bucket }))
    assert.deepEqual(served.map(sortable).toSorted(), declared.map(sortable).toSorted())
  })

  test('cannot be served without declaring what it requires', async () => {
    const { config, context, clock } = server
    const http = openHttp(config, { clock, logger: context.logger })
    enforceAccess(http, context)
    const handler = async () => ({})
    const access = { needs: 'read', proof: READS, bucket: 'dashboard' } as const
    assert.throws(() => http.get('/console/open', handler), /must declare/)
    for (const missing of ['needs', 'proof', 'bucket']) {
      const rest = Object.fromEntries(Object.entries(access).filter(([name]) => name !== missing))
      assert.throws(() => http.get('/console/half', { config: rest }, handler), /must declare/, missing)
    }
    assert.throws(() => http.get('/console/nowhere', { config: access }, handler), /names no workspace/)
    http.get('/console/workspaces/:slug/x', { config: access }, handler)
    await http.close()
  })

  for (const { needs, method, url, path, body } of ENDPOINTS) {
    const change = method !== 'GET'
    test(`${method} ${url} needs ${needs}`, async () => {
      const before = await readState()
      const call = (browser: Browser, headers?: readonly string[]) => browser.call(method, fill(path), body, headers)
      const nobody = new Browser(server)
      if (change) {
        for (const browser of [viewer, nobody]) {
          const crossSite = ['sec-fetch-site', 'cross-site', 'origin', 'https://evil.example']
          expectError(await call(browser, crossSite), { type: 'forbidden', code: 'cross_origin' })
        }
      }
      if (needs !== 'nothing') {
        assert.equal(expectError(await call(nobody), { type: 'unauthenticated' }).code, undefined)
      }
      const isOfWorkspace = url.includes('/:slug')
      const right = needs === 'nothing' || needs === 'session' ? null : needs
      assert.equal(isOfWorkspace, right !== null, 'a right in a workspace needs a workspace')
      if (isOfWorkspace) expectError(await call(stranger), { type: 'not_found' })
      if (right !== null && !may('viewer', right)) {
        expectError(await call(viewer), { type: 'forbidden', code: 'role_insufficient' })
      }
      assert.equal(await readState(), before, 'nothing was left behind')
    })
  }

  test('counts against the rate limit that it declares', async () => {
    const browser = new Browser(server, '10.2.0.1')
    const { sign_in: signIn, sign_up: signUp } = ATTEMPT_LIMITS
    for (let index = 0; index < signIn.limit; index += 1) {
      await browser.ask('POST', '/console/sign-in/options', {})
    }
    for (let index = 0; index < signUp.limit; index += 1) {
      await browser.ask('POST', '/console/sign-up/options', { name: 'A' })
    }
    for (const { method, path, body, bucket } of ENDPOINTS) {
      const answer = await browser.call(method, fill(path), body)
      assert.equal(answer.status === 429, bucket !== 'dashboard', `${method} ${path}`)
    }
  })

  /**
   * Replaces the path parameters with ids that do not exist. That is enough here, because callers are rejected before
   * any id is looked up.
   */
  function fill(path: string): string {
    return path.replace(':slug', workspace.slug).replace(':address', ADDRESS).replaceAll(/:\w+/g, 'x')
  }

  async function readState(): Promise<string> {
    const tables = ['workspaces', 'members', 'invitations', 'agents', 'wallets', 'grants', 'api_keys', 'recipients']
    const more = [
      'webhook_endpoints',
      'deliveries',
      'events',
      'audit_entries',
      'users',
      'passkeys',
      'sessions',
      ...OWNER_TABLES,
    ]
    const sums = [...tables, ...more].map(
      (table) => `select md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) as sum from ${table} t`,
    )
    return (await readRows(server.context.db, sums.join(' union all '))).map((row) => String(row['sum'])).join(' ')
  }
})

function sortable(declaration: object): string {
  return JSON.stringify(declaration)
}
