import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { buyAs, offerOf, seedBuyer } from '../../../../test/support/context/seed-buyer.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { startDocumentServer } from '../../../../test/support/wires/document-server.ts'
import { startFakeSeller, type FakeSeller } from '../../../../test/support/wires/fake-seller.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { cleanUpOnce } from '../../jobs/clean-up.ts'
import { openDocumentClients } from '../../oauth/document-clients.ts'
import type { Context } from '../context.ts'
import { checkResource } from '../purchases/check-resource.ts'
import { OUTBOUND_KEPT_MAX, type OutboundRequestRow } from './outbound-request.ts'
import { insertOutboundRequests } from './outbound-requests-store.ts'

/** If somebody asks who sent a request to a server, the operator can find it (D94). */
describe('the rows of requests to other servers', () => {
  let given: TestContext
  let ctx: Context
  let seller: FakeSeller
  before(async () => {
    given = await openTestContext((config) => ({ ...config, webhooksToLoopback: true }))
    ctx = given.context
  })
  beforeEach(async () => {
    given.clock.setOffset(0)
    seller = await startFakeSeller()
    seller.accepts = [offerOf(ctx)]
  })
  afterEach(() => seller.close())
  after(() => given.close())

  test('say who sent each request of a purchase and each question for a price, redirects included', async () => {
    const buyer = await seedBuyer(given)
    await buyAs(ctx, buyer, { url: `${seller.url}/goods` })
    seller.ask = (response, { path }) => {
      if (path === '/moved') response.writeHead(302, { location: '/free' }).end()
      else response.writeHead(200).end('free')
    }
    const request = { url: `${seller.url}/moved`, method: 'GET', headers: {}, body: null } as const
    const credential = { credentialId: 'key_1', boundAgentId: null }
    const price = { workspaceId: buyer.workspace.id, mode: buyer.mode, ...credential, request, buyer: null }
    await checkResource(ctx, price, { onWait: () => undefined })
    const host = new URL(seller.url).host
    const row = { mode: 'test', credential_id: null, host, method: 'GET' }
    assert.deepEqual(await readTrace(buyer.workspace.id, 4), [
      { ...row, status: 402, response_bytes: 2 },
      { ...row, status: 200, response_bytes: 5 },
      { ...row, credential_id: 'key_1', status: 302, response_bytes: 0 },
      { ...row, credential_id: 'key_1', status: 200, response_bytes: 4 },
    ])
  })

  test('also name the requests that got no response', async () => {
    const buyer = await seedBuyer(given)
    seller.ask = (response) => response.destroy()
    await assert.rejects(buyAs(ctx, buyer, { url: `${seller.url}/goods` }), { code: 'resource_unreachable' })
    const [row] = await readTrace(buyer.workspace.id, 1)
    assert.deepEqual([row?.['status'], row?.['response_bytes']], [null, 0])
  })

  test("name the host of a client's metadata document, which belongs to no workspace", async () => {
    const site = await startDocumentServer()
    const documents = openDocumentClients(ctx, { ownOrigins: [] })
    try {
      const url = site.publish('/client', { redirect_uris: ['http://127.0.0.1/callback'] })
      await documents.get({ url, address: '192.0.2.1', network: '192.0.2.1' })
      const row = { mode: null, credential_id: null, host: new URL(url).host, method: 'GET', status: 200 }
      const [read] = await readTrace('', 1)
      assert.deepEqual({ ...read, response_bytes: 0 }, { ...row, response_bytes: 0 })
    } finally {
      documents.close()
      await site.close()
    }
  })

  test('are written when the process stops', async () => {
    const buyer = await seedBuyer(given)
    const other = given.openAnother()
    await buyAs(other, buyer, { url: `${seller.url}/goods` })
    other.outboundTrace.flush()
    await other.deferredWrites.close()
    assert.equal((await list(buyer.workspace.id)).length, 2)
  })

  test('are kept up to a limit for each workspace, and the oldest are deleted first', async () => {
    const [busy, quiet] = [await seedBuyer(given), await seedBuyer(given)]
    const write = async (hosts: readonly string[], workspaceId: string) =>
      await ctx.db.write(insertOutboundRequests(hosts.map((host) => toRow(host, workspaceId))))
    await write(['a', 'b', 'c'], busy.workspace.id)
    await write(['a', 'b', 'c'], quiet.workspace.id)
    await readRows(ctx.db, 'update outbound_counts set requests = $2 where workspace_id = $1', [
      busy.workspace.id,
      OUTBOUND_KEPT_MAX + 1,
    ])
    await write(['d'], busy.workspace.id)
    const hosts = async (id: string) => (await list(id)).map(({ host }) => host)
    assert.deepEqual(await hosts(busy.workspace.id), ['c', 'd'])
    assert.deepEqual(await hosts(quiet.workspace.id), ['a', 'b', 'c'])
  })

  test('of several processes at once get numbers of their own', async () => {
    const buyers = [await seedBuyer(given), await seedBuyer(given)] as const
    const rows = buyers.flatMap(({ workspace }) => [toRow('one', workspace.id), toRow('two', workspace.id)])
    await Promise.all(Array.from({ length: 8 }, () => ctx.db.write(insertOutboundRequests(rows.toReversed()))))
    for (const { workspace } of buyers) assert.equal((await list(workspace.id)).length, 16)
  })

  test('are deleted after 30 days by default, and not before', async () => {
    assert.equal(ctx.outboundRetentionMs, 30 * 24 * 60 * 60 * 1_000)
    const { workspace } = await seedBuyer(given)
    await ctx.db.write(insertOutboundRequests([toRow('one', workspace.id)]))
    given.clock.setOffset(ctx.outboundRetentionMs - 60_000)
    await cleanUpOnce(ctx, 'outboundRequests')
    assert.equal((await list(workspace.id)).length, 1)
    given.clock.setOffset(ctx.outboundRetentionMs + 60_000)
    await cleanUpOnce(ctx, 'outboundRequests')
    assert.deepEqual(await list(workspace.id), [])
  })

  function toRow(host: string, workspaceId: string): OutboundRequestRow {
    const source = { workspaceId, mode: 'test', credentialId: null } as const
    return { source, host, method: 'GET', status: 200, responseBytes: 1, sentAt: new Date() }
  }

  async function list(workspaceId: string): Promise<Record<string, unknown>[]> {
    const columns = 'mode, credential_id, host, method, status, response_bytes'
    const text = `select ${columns} from outbound_requests where workspace_id = $1 order by number`
    return (await readRows(ctx.db, text, [workspaceId])).map((row) => ({ ...row }))
  }

  async function readTrace(workspaceId: string, count: number): Promise<Record<string, unknown>[]> {
    return await waitFor(`${count} rows`, async () => {
      const rows = await list(workspaceId)
      return rows.length >= count && rows
    })
  }
})
