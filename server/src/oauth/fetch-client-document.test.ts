import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { after, before, describe, test } from 'node:test'
import { startDocumentServer, type DocumentServer } from '../../../test/support/wires/document-server.ts'
import { createClock } from '../lib/clock.ts'
import { openOutbound } from '../lib/outbound/open-outbound.ts'
import type { OutboundPolicy } from '../lib/outbound/policy.ts'
import { DOCUMENT_BYTES_MAX, fetchClientDocument } from './fetch-client-document.ts'
import { ClientDocumentUnavailable, InvalidClientDocument } from './oauth-error.ts'

const REDIRECT_URIS = ['http://127.0.0.1/callback']
/** Only a test of the time limit uses a short limit. */
const SHORT_MS = 150
const RULES = { allowLoopback: true, ownOrigins: [], contact: 'abuse@example.com' }
const JSON_TYPE = { 'content-type': 'application/json' }

describe('fetchClientDocument', () => {
  let site: DocumentServer
  before(async () => {
    site = await startDocumentServer()
  })
  after(() => site.close())

  async function fetchFrom(url: string, policy: Partial<OutboundPolicy> = {}, timeoutMs = 20_000) {
    const outbound = openOutbound({ policy: { ...RULES, ...policy }, clock: createClock() })
    try {
      return await fetchClientDocument(outbound, { url, ownOrigins: [], onEnd: () => undefined, timeoutMs })
    } finally {
      outbound.close()
    }
  }

  async function assertUnavailable(url: string, message: RegExp, ...given: [Partial<OutboundPolicy>?, number?]) {
    await assert.rejects(fetchFrom(url, ...given), (error) => {
      assert.ok(error instanceof ClientDocumentUnavailable, String(error))
      assert.match(error.message, message)
      assert.deepEqual([error.status, error.parameter, error.retryAfterSeconds], [503, 'client_id', 60])
      return true
    })
  }

  test('reads a document, by the name of its host', async () => {
    const url = site.publish(
      '/good',
      { client_name: 'Good', redirect_uris: REDIRECT_URIS },
      { 'cache-control': 'max-age=600' },
    )
    const { name, redirectUris, freshForMs } = await fetchFrom(url)
    assert.deepEqual([name, redirectUris, freshForMs], ['Good', REDIRECT_URIS, 600_000])
    const [request] = site.requests.filter(({ path }) => path === '/good')
    assert.equal(request?.serverName, 'localhost')
    assert.deepEqual(request.headers, {
      host: new URL(url).host,
      accept: 'application/json',
      'user-agent': 'Bursar/1 (+abuse@example.com)',
      connection: 'keep-alive',
    })
  })

  test('rejects a document that breaks a rule', async () => {
    const url = site.publish('/other', { client_id: `${site.origin}/othe`, redirect_uris: REDIRECT_URIS })
    await assert.rejects(fetchFrom(url), InvalidClientDocument)
  })

  const answers: readonly (readonly [string, (response: ServerResponse) => void, RegExp])[] = [
    ['301', (response) => response.writeHead(301, { location: '/good' }).end(), /the status 301, not with 200/],
    ['302', (response) => response.writeHead(302, { location: '/good' }).end(), /the status 302/],
    ['304', (response) => response.writeHead(304).end(), /the status 304/],
    ['404', (response) => response.writeHead(404, JSON_TYPE).end('{}'), /the status 404/],
    ['403 and HTML', (response) => response.writeHead(403, { 'content-type': 'text/html' }).end('<p>'), /status 403/],
    ['201', (response) => response.writeHead(201, JSON_TYPE).end('{}'), /the status 201/],
    ['HTML', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('{}'), /application\/json/],
    ['no content type', (response) => response.writeHead(200).end('{}'), /application\/json/],
    ['what is not JSON', (response) => response.writeHead(200, JSON_TYPE).end('{"client_id":'), /not valid JSON/],
    ['invalid UTF-8', (response) => response.writeHead(200, JSON_TYPE).end(Buffer.of(0x22, 0xff, 0x22)), /not valid/],
    ['null', (response) => response.writeHead(200, JSON_TYPE).end('null'), /not a JSON object/],
    ['a list', (response) => response.writeHead(200, JSON_TYPE).end('[]'), /not a JSON object/],
    ['nothing', (response) => response.writeHead(200, JSON_TYPE).end(), /not valid JSON/],
    [
      'a document that breaks off, although it could be whole',
      (response) =>
        response.writeHead(200, { ...JSON_TYPE, 'content-length': 100 }).write('{}', () => response.destroy()),
      /closed the connection/,
    ],
    ['the status 999', (response) => response.writeHead(999, JSON_TYPE).end('{}'), /the status 999/],
    ['a connection that it closes', (response) => response.destroy(), /closed the connection/],
  ]
  for (const [what, answer, message] of answers) {
    test(`fails if the server responds with ${what}`, async () => {
      await assertUnavailable(site.publish('/fault', answer), message)
    })
  }

  test('reads at most 5 KiB', async () => {
    const publish = (bytes: number): string => {
      const base = JSON.stringify({ client_id: `${site.origin}/big`, redirect_uris: REDIRECT_URIS, x: '' })
      const text = base.replace('"x":""', `"x":"${'x'.repeat(bytes - base.length)}"`)
      return site.publish('/big', (response) => response.writeHead(200, JSON_TYPE).end(text))
    }
    assert.deepEqual((await fetchFrom(publish(DOCUMENT_BYTES_MAX))).redirectUris, REDIRECT_URIS)
    await assertUnavailable(publish(DOCUMENT_BYTES_MAX + 1), /longer than 5120 bytes/)
    await assertUnavailable(publish(6 * 1024), /longer than 5120 bytes/)
  })

  test('decodes a document that its server compresses, up to 5 KiB', async () => {
    const publish = (bytes: number): string => {
      const text = JSON.stringify({
        client_id: `${site.origin}/gzip`,
        redirect_uris: REDIRECT_URIS,
        x: 'x'.repeat(bytes),
      })
      const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' }
      return site.publish('/gzip', (response) => response.writeHead(200, headers).end(gzipSync(text)))
    }
    assert.deepEqual((await fetchFrom(publish(1_000))).redirectUris, REDIRECT_URIS)
    await assertUnavailable(publish(DOCUMENT_BYTES_MAX), /longer than 5120 bytes/)
  })

  test('accepts other JSON types', async () => {
    for (const type of ['application/json; charset=utf-8', 'application/client-metadata+json', 'Application/JSON']) {
      const url = site.publish('/typed', { redirect_uris: REDIRECT_URIS }, { 'content-type': type })
      assert.deepEqual((await fetchFrom(url)).redirectUris, REDIRECT_URIS, type)
    }
  })

  test('ends after its time limit, also in the middle of the body', async () => {
    const url = site.publish('/slow', (response) => response.writeHead(200, JSON_TYPE).write('{'))
    await assertUnavailable(url, /did not respond in time/, {}, SHORT_MS)
  })

  test('does not call addresses that are not public, however they are named', async () => {
    const own = site.publish('/private', { redirect_uris: REDIRECT_URIS })
    await assertUnavailable(own, /no public address/, { allowLoopback: false })
    const addresses = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::ffff:169.254.169.254', '::1', 'fd00:ec2::254']
    const resolved = [...addresses.map((address) => [address]), ['93.184.216.34', '10.0.0.1'], []]
    for (const answer of resolved) {
      const policy = {
        allowLoopback: false,
        resolve: async () => answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      }
      await assertUnavailable('https://documents.example/c', /no public address/, policy)
    }
    for (const host of ['10.0.0.1', '169.254.169.254', '127.0.0.1', 'metadata.internal', 'intranet']) {
      await assertUnavailable(`https://${host}/c`, /no public address/, { allowLoopback: false })
    }
    assert.equal(site.count(own), 0)
  })

  test('resolves a host once for each connection, and checks the address that it connects to', async () => {
    const url = site.publish('/rebound', { redirect_uris: REDIRECT_URIS })
    const answers = ['127.0.0.1', '10.0.0.1', '10.0.0.1']
    let asked = 0
    const resolve = async () => [{ address: answers[asked++] ?? '', family: 4 }]
    await fetchFrom(url, { resolve })
    assert.equal(asked, 1)
    await assertUnavailable(url, /no public address/, { resolve })
    assert.equal(site.count(url), 1)
  })

  test('does not call the service itself', async () => {
    const url = site.publish('/own', { redirect_uris: REDIRECT_URIS })
    await assertUnavailable(url, /no public address/, { ownOrigins: [site.origin] })
    assert.equal(site.count(url), 0)
  })
})
