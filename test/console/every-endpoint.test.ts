import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Account } from '../../server/src/domain/accounts/account.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import { seedAccount } from '../support/context/connection-rows.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError } from '../support/http-client.ts'
import { readRows } from '../support/database/read-rows.ts'
import { Browser } from './browser.ts'
import { ADDRESS, listConsoleRoutes, ROWS } from './endpoints.ts'
import { openVisitor } from './person.ts'

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
    const known = await listConsoleRoutes(server)
    const told = ROWS.map(([, method, path]) => `${method} ${path.split('?')[0]}`)
    assert.deepEqual(told.toSorted(), known.toSorted())
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
