import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Workspace } from '../../server/src/domain/workspaces/workspace.ts'
import { issueKey } from '../../server/src/domain/keys/issue-key.ts'
import { labelRecipient } from '../../server/src/domain/recipients/label-recipient.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { seedWorkspace } from '../support/context/connection-rows.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { announce } from '../support/context/delivery-rows.ts'
import { answerJson, startFakeServer, type FakeServer } from '../support/wires/fake-server.ts'
import { expectError } from '../support/http-client.ts'
import { readRows } from '../support/database/read-rows.ts'
import { address, seedWallet } from '../support/context/seed.ts'
import { Browser } from './browser.ts'
import { openConsoleFixture } from './console-fixture.ts'
import { openVisitor } from './person.ts'
import { addWalletOwner } from '../support/context/people.ts'

type Call = readonly [method: 'GET' | 'POST' | 'DELETE', path: string, body?: object]
/** `status` is the status of the response to allowed callers. `role` is the lowest role that is allowed. */
type Row = readonly [name: string, status: number, role: 'viewer' | 'admin', call: (by: string) => Promise<Call>]

const TABLES = ['wallets', 'recipients', 'api_keys', 'rate_windows', 'audit_entries', 'sessions', 'attempt_windows']
/** This table counts requests for the rate limits. Even a rejected request may change it. */
const COUNTED_ANYWAY = 'attempt_windows'
const CROSS_SITE = ['sec-fetch-site', 'cross-site', 'origin', 'https://evil.example']

/**
 * What each role may do with keys, wallets, recipients and logs (D46), and that each request requires our own origin
 * (D47).
 */
describe('who may do what with keys, wallets, recipients and logs', () => {
  let faucet: FakeServer
  let server: ConsoleServer
  let workspace: Workspace
  let callers: Readonly<Record<'owner' | 'admin' | 'viewer' | 'stranger' | 'nobody', Browser>>
  /** The credential id of each person's wallet passkey. */
  const walletPasskeys = new Map<string, string>()
  let given = 0
  before(async () => {
    faucet = await startFakeServer((_request, _body, response) => {
      given += 1
      answerJson(response, { tx_hash: `0x${'1'.repeat(64)}` }, 201)
    })
    const endpoint = { kind: 'endpoint', url: faucet.url } as const
    server = await openConsoleServer((config) => ({ ...config, faucet: endpoint }))
    workspace = { ...(await seedWorkspace(server.context)) }
    await readRows(server.context.db, `update workspaces set plan = 'scale' where id = $1`, [workspace.id])
    const browserOf = async (role: 'owner' | 'admin' | 'viewer') => {
      const { browser, userId } = await openConsoleFixture(server, { workspace, role })
      walletPasskeys.set(role, (await addWalletOwner(server.context, userId)).credentialId)
      return browser
    }
    const [owner, admin, viewer] = [await browserOf('owner'), await browserOf('admin'), await browserOf('viewer')]
    const stranger = (await openVisitor(server)).browser
    callers = { owner, admin, viewer, stranger, nobody: new Browser(server) }
  })
  after(async () => {
    await server.close()
    await faucet.close()
  })

  const rows: readonly Row[] = [
    ['look at the workspace', 200, 'viewer', async () => ['GET', at('')]],
    ['look at the plan', 200, 'viewer', async () => ['GET', at('plan')]],
    ['list keys', 200, 'viewer', async () => ['GET', at('keys?mode=test')]],
    ['make a key', 201, 'admin', async () => ['POST', at('keys'), { mode: 'test', name: 'K' }]],
    ['rotate a key', 201, 'admin', async () => ['POST', at(`keys/${await newKey()}/rotate`), {}]],
    ['revoke a key', 200, 'admin', async () => ['POST', at(`keys/${await newKey()}/revoke`), {}]],
    ['list wallets', 200, 'viewer', async () => ['GET', at('wallets?mode=test')]],
    ['look at a wallet', 200, 'viewer', async () => ['GET', at(`wallets/${await newWallet()}?mode=test`)]],
    ['create a wallet', 201, 'admin', async (role) => ['POST', at('wallets'), walletOf(role)]],
    ['ask the faucet', 201, 'admin', async () => ['POST', at(`wallets/${await newWallet()}/faucet`), { mode: 'test' }]],
    ['list deposits', 200, 'viewer', async () => ['GET', at('deposits?mode=test')]],
    ['list recipients', 200, 'viewer', async () => ['GET', at('recipients?mode=test')]],
    ['name a recipient', 201, 'admin', async () => ['POST', at('recipients'), recipient()]],
    ['remove a recipient', 200, 'admin', async () => ['DELETE', at(`recipients/${await newRecipient()}?mode=test`)]],
    ['list events', 200, 'viewer', async () => ['GET', at('events?mode=test')]],
    ['look at an event', 200, 'viewer', async () => ['GET', at(`events/${await newEvent()}?mode=test`)]],
  ]
  for (const [name, status, role, makeCall] of rows) {
    const isWrite = role === 'admin'
    test(`to ${name}: ${status} for an owner and an admin, ${isWrite ? 403 : status} for a viewer; else 404, or 401`, async () => {
      await expectDone('owner', await makeCall('owner'), { status, isWrite })
      await expectDone('admin', await makeCall('admin'), { status, isWrite })
      if (isWrite)
        await expectRefused('viewer', await makeCall('viewer'), { type: 'forbidden', code: 'role_insufficient' })
      else await expectDone('viewer', await makeCall('viewer'), { status, isWrite })
      await expectRefused('stranger', await makeCall('stranger'), { type: 'not_found' })
      await expectRefused('nobody', await makeCall('nobody'), { type: 'unauthenticated' })
    })

    if (isWrite) {
      test(`to ${name} from another site is refused, whoever it is`, async () => {
        const [method, path, body] = await makeCall('owner')
        const before = await readState([])
        for (const headers of [[], CROSS_SITE]) {
          const answer = await callers.owner.call(method, path, body, headers)
          expectError(answer, { type: 'forbidden', code: 'cross_origin' })
        }
        assert.equal(await readState([]), before)
      })
    }
  }

  test('the list of sessions requires a session, and a request from our own pages', async () => {
    for (const [method, path] of [
      ['GET', '/console/sessions'],
      ['DELETE', '/console/sessions/x'],
    ] as const) {
      await expectRefused('nobody', [method, path], { type: 'unauthenticated' })
    }
    const before = await readState([])
    const answer = await callers.owner.call('DELETE', '/console/sessions/x', undefined, CROSS_SITE)
    expectError(answer, { type: 'forbidden', code: 'cross_origin' })
    assert.equal(await readState([]), before)
  })

  function walletOf(role: string): object {
    return { mode: 'test', name: 'W', credential_id: walletPasskeys.get(role) ?? 'AAAA' }
  }

  async function expectDone(
    caller: keyof typeof callers,
    [method, path, body]: Call,
    { status, isWrite }: { status: number; isWrite: boolean },
  ): Promise<void> {
    const before = await readState()
    const answer = await callers[caller].call(method, path, body)
    assert.equal(answer.status, status, answer.text)
    assert.equal((await readState()) !== before, isWrite, `what ${caller} changed`)
  }

  async function expectRefused(
    caller: keyof typeof callers,
    [method, path, body]: Call,
    expected: Parameters<typeof expectError>[1],
  ): Promise<void> {
    const before = await readState()
    expectError(await callers[caller].call(method, path, body), expected)
    assert.equal(await readState(), before, `what ${caller} changed`)
  }

  function at(path: string): string {
    return `/console/workspaces/${workspace.slug}${path === '' ? '' : `/${path}`}`
  }

  async function newKey(): Promise<string> {
    return (await issueKey(server.context, { workspaceId: workspace.id, mode: 'test', actor: OPERATOR })).key.id
  }

  async function newWallet(): Promise<string> {
    return await seedWallet(server.context, { workspace, mode: 'test' })
  }

  async function newRecipient(): Promise<string> {
    const to = address(recipient().address)
    const request = { workspaceId: workspace.id, mode: 'test', address: to, label: 'L', actor: OPERATOR } as const
    return (await labelRecipient(server.context, request)).address
  }

  async function newEvent(): Promise<string> {
    return (await announce(server.context, workspace)).id
  }

  /** Reads everything that the endpoints could change, including the number of faucet calls. */
  async function readState(without: readonly string[] = [COUNTED_ANYWAY]): Promise<string> {
    const parts = TABLES.filter((table) => !without.includes(table)).map(async (table) => {
      const sql = `select md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) as sum from ${table} t`
      return String((await readRows(server.context.db, sql))[0]?.['sum'])
    })
    return [...(await Promise.all(parts)), given].join(' ')
  }
})

function recipient() {
  return { mode: 'test', address: `0x${randomBytes(20).toString('hex')}`, label: 'L' } as const
}
