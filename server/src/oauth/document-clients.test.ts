import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { pino } from 'pino'
import { openTestContext, type TestContext } from '../../../test/support/context/test-context.ts'
import { readRows } from '../../../test/support/database/read-rows.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { startDocumentServer, type DocumentServer } from '../../../test/support/wires/document-server.ts'
import type { Context } from '../domain/context.ts'
import { openPools } from '../lib/pools.ts'
import { Problem } from '../values/problem.ts'
import { openDocumentClients, type DocumentClients } from './document-clients.ts'
import { KNOWN_DOCUMENTS } from './known-documents.ts'
import { ClientDocumentUnavailable, InvalidClientDocument } from './oauth-error.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const DAY_MS = 24 * 60 * MINUTE_MS
const OLD = ['http://127.0.0.1/old']
const NEW = ['http://127.0.0.1/new']

describe('clients with a metadata document', () => {
  let given: TestContext
  let site: DocumentServer
  let ctx: Context
  let documents: DocumentClients
  let url: string
  let offsetMs = 0
  /** The lines that the current test has logged. */
  let lines: string[]
  before(async () => {
    given = await openTestContext((config) => ({ ...config, webhooksToLoopback: true }))
    site = await startDocumentServer()
  })
  beforeEach((test) => {
    // `resolveLoopback` needs no name server, so no name is looked up outside this machine.
    lines = []
    const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
    ctx = { ...given.context, logger, outbound: { ...given.context.outbound, resolve: resolveLoopback } }
    documents = openDocumentClients(ctx, { ownOrigins: [] })
    url = `${site.origin}/${encodeURIComponent(test.name)}`
  })
  afterEach(() => documents.close())
  after(async () => {
    await given.close()
    await site.close()
  })

  /** Publishes the document of the current test. */
  function publish(redirect_uris: readonly string[], headers: Readonly<Record<string, string>> = {}): void {
    site.publish(url.slice(site.origin.length), { redirect_uris }, headers)
  }

  function fail(reply: (response: ServerResponse) => void = (response) => response.writeHead(500).end()): void {
    site.publish(url.slice(site.origin.length), reply)
  }

  function advance(milliseconds: number): void {
    offsetMs += milliseconds
    given.clock.setOffset(offsetMs)
  }

  async function readUris(clients = documents): Promise<readonly string[]> {
    return (await clients.get({ url, ...randomClient() })).redirectUris
  }

  async function assertUnavailable(clients = documents): Promise<void> {
    await assert.rejects(readUris(clients), ClientDocumentUnavailable)
  }

  test('are read once while the copy is fresh', async () => {
    publish(OLD, { 'cache-control': 'max-age=600' })
    assert.deepEqual(await readUris(), OLD)
    publish(NEW, { 'cache-control': 'max-age=600' })
    advance(599 * SECOND_MS)
    assert.deepEqual(await readUris(), OLD)
    assert.equal(site.count(url), 1)
    advance(2 * SECOND_MS)
    assert.deepEqual(await readUris(), NEW)
    assert.equal(site.count(url), 2)
  })

  test('share their copy with other processes', async () => {
    publish(OLD)
    assert.deepEqual(await readUris(), OLD)
    const other = openDocumentClients(given.openAnother(), { ownOrigins: [] })
    assert.deepEqual(await readUris(other), OLD)
    assert.equal(site.count(url), 1)
    other.close()
  })

  test('are read at most once in a minute while they cannot be read', async () => {
    fail()
    await assertUnavailable()
    await assertUnavailable()
    publish(OLD)
    advance(59 * SECOND_MS)
    await assertUnavailable()
    assert.equal(site.count(url), 1)
    advance(2 * SECOND_MS)
    assert.deepEqual(await readUris(), OLD)
  })

  test('are refused for a minute if their document breaks a rule, although an older copy is stored', async () => {
    publish(OLD)
    await readUris()
    advance(6 * MINUTE_MS)
    publish(['https://evil.example/cb'])
    await assert.rejects(readUris(), InvalidClientDocument)
    publish(NEW)
    await assert.rejects(readUris(), InvalidClientDocument)
    assert.equal(site.count(url), 2)
    advance(61 * SECOND_MS)
    assert.deepEqual(await readUris(), NEW)
  })

  test('keep an older copy for 7 days if their document cannot be read', async () => {
    publish(OLD)
    await readUris()
    fail((response) => response.writeHead(404).end())
    advance(7 * DAY_MS - MINUTE_MS)
    assert.deepEqual(await readUris(), OLD)
    assert.equal(site.count(url), 2)
    advance(2 * MINUTE_MS)
    await assertUnavailable()
    publish(NEW)
    advance(2 * MINUTE_MS)
    assert.deepEqual(await readUris(), NEW)
  })

  test('have a built-in copy if they are well known and cannot be read', async () => {
    for (const { client_id, client_name, redirect_uris } of KNOWN_DOCUMENTS) {
      const client = await documents.get({ url: client_id, ...randomClient() })
      assert.deepEqual(
        [client.kind, client.name, client.redirectUris, client.fetchedAt],
        ['document', client_name, redirect_uris, null],
      )
    }
    await assert.rejects(
      documents.get({ url: 'https://claude.ai/oauth/other', ...randomClient() }),
      ClientDocumentUnavailable,
    )
  })

  test('prefer a copy that was read to the built-in copy, and the built-in copy to one that is too old', async () => {
    const [known] = KNOWN_DOCUMENTS
    const sql = `update oauth_clients set redirect_uris = $2, fetched_at = $3, fresh_until = $3 where id = $1`
    const readKnown = async () => await documents.get({ url: known.client_id, ...randomClient() })
    await readKnown()
    await readRows(ctx.db, sql, [known.client_id, OLD, ctx.clock.now()])
    advance(2 * MINUTE_MS)
    assert.deepEqual((await readKnown()).redirectUris, OLD)
    advance(8 * DAY_MS)
    assert.deepEqual((await readKnown()).redirectUris, known.redirect_uris)
  })

  test('cost one fetch if many requests name them at the same time', async () => {
    publish(OLD)
    const clients = await Promise.all(Array.from({ length: 20 }, () => readUris()))
    assert.deepEqual(
      clients,
      Array.from({ length: 20 }, () => OLD),
    )
    assert.equal(site.count(url), 1)
  })

  test('are stored once if two processes read them at the same time', async () => {
    const waiting: ServerResponse[] = []
    fail((response) => waiting.push(response))
    const other = openDocumentClients({ ...given.openAnother(), outbound: ctx.outbound }, { ownOrigins: [] })
    const both = Promise.all([readUris(), readUris(other)])
    await waitFor('both processes to fetch the document', () => waiting.length === 2)
    for (const response of waiting) {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ client_id: url, redirect_uris: OLD }))
    }
    assert.deepEqual(await both, [OLD, OLD])
    assert.equal((await readRows(ctx.db, 'select id from oauth_clients where id = $1', [url])).length, 1)
    other.close()
  })

  test('are fetched at most 20 times in an hour for an address; a stored copy is still used', async () => {
    const client = randomClient()
    const get = async (path: string) => await documents.get({ url: `${site.origin}/limit/${path}`, ...client })
    const publishAt = (path: string) => site.publish(`/limit/${path}`, { redirect_uris: OLD })
    const stored = publishAt('0')
    for (let count = 0; count < 20; count += 1) {
      publishAt(String(count))
      await get(String(count))
    }
    publishAt('20')
    await assert.rejects(get('20'), (error) => error instanceof Problem && error.code === 'rate_limit_exceeded')
    advance(6 * MINUTE_MS)
    await get('0')
    assert.equal(site.count(stored), 1)
    advance(60 * MINUTE_MS)
    await get('0')
    assert.equal(site.count(stored), 2)
  })

  test('are fetched for one network at a time in half of the places, and a newcomer gets one of them; neither failure is remembered', async () => {
    const busy = openDocumentClients(
      { ...ctx, pools: openPools({ clientDocuments: { placesMax: 4 } }) },
      { ownOrigins: [] },
    )
    const waiting: ServerResponse[] = []
    const client = randomClient()
    const fetchSlow = async (path: string, by = client) => {
      return await busy.get({ url: site.publish(path, (response) => waiting.push(response)), ...by })
    }
    const failed = /Too many client metadata documents/
    const kept = fetchSlow('/busy/kept').catch(String)
    await waitFor('the first fetch', () => waiting.length === 1)
    const given = assert.rejects(fetchSlow('/busy/given'), failed)
    await waitFor('the second fetch', () => waiting.length === 2)
    await assert.rejects(fetchSlow('/busy/rejected'), failed)
    const others = ['/busy/2', '/busy/3'].map((path) => fetchSlow(path, randomClient()).catch(String))
    await waitFor('the fetches of others', () => waiting.length === 4)
    publish(OLD)
    assert.deepEqual(await readUris(busy), OLD)
    await given
    for (const response of waiting) response.writeHead(404).end()
    await Promise.all([kept, ...others])
    for (const path of ['/busy/given', '/busy/rejected']) {
      const url = site.publish(path, { redirect_uris: OLD })
      assert.deepEqual((await busy.get({ url, ...client })).redirectUris, OLD)
    }
    busy.close()
  })

  test('are not fetched if their URL is not acceptable', async () => {
    const before = site.requests.length
    for (const bad of [`${site.origin}/`, `${site.origin}/a/../c`, `${site.origin}/c#x`, `${site.origin}/c?x`]) {
      await assert.rejects(documents.get({ url: bad, ...randomClient() }), InvalidClientDocument)
    }
    assert.equal(site.requests.length, before)
  })
})

async function resolveLoopback(hostname: string) {
  if (hostname !== 'localhost') throw new Error(`${hostname} is not looked up in a test`)
  return [{ address: '127.0.0.1', family: 4 }]
}

function randomClient(): { address: string; network: string } {
  const address = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`
  return { address, network: address }
}
