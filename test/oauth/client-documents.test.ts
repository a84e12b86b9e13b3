import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readBody } from '../support/http-client.ts'
import { readRows } from '../support/database/read-rows.ts'
import {
  expectOauthError,
  expectPage,
  locationOf,
  openOauthServer,
  readTokens,
  type OauthServer,
  type RegisteredClient,
} from '../support/service/oauth-server.ts'
import { startDocumentServer, type DocumentServer } from '../support/wires/document-server.ts'

const MINUTE_MS = 60_000

/** OAuth clients whose id is the URL of their metadata document (D73), against the whole service. */
describe('a client with a metadata document', () => {
  let given: OauthServer
  let site: DocumentServer
  before(async () => {
    given = await openOauthServer((config) => ({ ...config, webhooksToLoopback: true }))
    site = await startDocumentServer()
  })
  after(async () => {
    await given.close()
    await site.close()
  })

  /** Publishes a document, and returns its client in the form of a registered client. */
  function publish(path: string, redirect_uris: readonly string[], members: object = {}): RegisteredClient {
    return toClient(site.publish(path, { redirect_uris, client_name: 'Not shown', ...members }), redirect_uris)
  }

  test('connects, calls the API, refreshes without a resource, and disconnects', async () => {
    const client = publish('/flow', [`${site.origin}/callback`], {
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
    })
    const scope = 'wallet:read offline_access'
    const approved = await given.approveCode(client, { scope, resource: 'http://localhost:4100/mcp' })
    const tokens = readTokens(await given.exchange(approved))
    assert.equal(tokens.scope, 'wallet:read')
    const me = await given.call({ path: '/v1/me', key: tokens.access_token })
    assert.equal(readBody<{ agent_id: string }>(me, 200).agent_id, given.seeded.agentId)
    const renewed = readTokens(await given.refresh({ client, refresh_token: tokens.refresh_token }))
    const revoked = await given.post('/oauth/revoke', { token: renewed.refresh_token, client_id: client.client_id })
    assert.equal(revoked.status, 200)
    assert.equal((await given.call({ path: '/v1/me', key: renewed.access_token })).status, 401)
    assert.equal(site.count(client.client_id), 1)
    const sql =
      "select actor_id, details from audit_entries where action in ('client.registered', 'connection.approved')"
    const entries = (await readRows(given.context.db, sql)).map(({ details }) => details as Record<string, unknown>)
    const registered = entries.find((details) => 'kind' in details)
    assert.deepEqual([registered?.['kind'], registered?.['redirect_uris']], ['document', 1])
    const names = entries.flatMap(({ client_id, client_name }) => (client_id === client.client_id ? [client_name] : []))
    assert.deepEqual(names, [new URL(site.origin).host])
  })

  test('may use any port on loopback, but no other path', async () => {
    const client = publish('/native', ['http://localhost/callback', 'http://127.0.0.1/callback'])
    const redirect_uri = 'http://localhost:51234/callback'
    await given.openRequest(client, { redirect_uri })
    const other = await given.authorize(client, { redirect_uri: 'http://localhost:51234/other' })
    expectPage(other, { error: 'invalid_request', parameter: 'redirect_uri' })
  })

  test('cannot use a redirect URI of its document that is on another host', async () => {
    const client = publish('/fence', ['https://evil.example/cb', 'http://127.0.0.1/cb'])
    expectPage(await given.authorize(client), { error: 'invalid_request', parameter: 'redirect_uri' })
    await given.openRequest(client, { redirect_uri: 'http://127.0.0.1/cb' })
  })

  test('gets an error page, and is not fetched, if its URL is not acceptable', async () => {
    const before = site.requests.length
    const { host } = new URL(site.origin)
    for (const bad of [
      `http://${host}/c`,
      site.origin,
      `${site.origin}/`,
      `${site.origin}/c#x`,
      `https://u:p@${host}/c`,
      `${site.origin}/a/../c.json`,
      `${site.origin}/a/%2e%2e/c.json`,
      `${site.origin}/a/%252e%252e/c.json`,
    ]) {
      const answer = await given.authorize(toClient(bad, ['http://127.0.0.1/cb']), {}, { person: given.owner })
      expectPage(answer, { error: 'invalid_client', parameter: 'client_id' })
    }
    assert.equal(site.requests.length, before)
  })

  test('gets an error page that says what is wrong with its document, even if a person is signed in', async () => {
    const client = publish('/secret', ['http://127.0.0.1/cb'], { client_secret: 'x' })
    const answer = await given.authorize(client, {}, { person: given.owner })
    expectPage(answer, { error: 'invalid_client', parameter: 'client_id' })
    assert.match(answer.text, /it contains a client secret/)
  })

  test('gets an error page to try again, if its document cannot be read', async () => {
    const url = site.publish('/moved', (response) => response.writeHead(302, { location: '/native' }).end())
    for (let count = 0; count < 2; count += 1) {
      const answer = await given.authorize(toClient(url, ['http://127.0.0.1/cb']), {}, { person: given.owner })
      expectPage(answer, { status: 503, error: 'temporarily_unavailable', parameter: 'client_id' })
      assert.equal(answer.headers['retry-after'], '60')
      assert.match(answer.text, /responded with the status 302/)
      assert.match(answer.text, /Wait 60 seconds, then go back to the application/)
    }
    assert.equal(site.count(url), 1)
  })

  test('gets an error page that does not tell to wait, if its host has no public address', async () => {
    const answer = await given.authorize(
      toClient('https://nowhere.invalid/c.json', ['http://127.0.0.1/cb']),
      {},
      { person: given.owner },
    )
    expectPage(answer, { status: 503, error: 'temporarily_unavailable', parameter: 'client_id' })
    assert.match(answer.text, /its host has no public address/)
    assert.match(answer.text, /Waiting does not help/)
    assert.doesNotMatch(answer.text, /Wait 60 seconds/)
  })

  test('is compared as text: a port that is named is another client', async () => {
    const url = site.publish('/exact', { client_id: `${site.origin}/Exact`, redirect_uris: ['http://127.0.0.1/cb'] })
    const answer = await given.authorize(toClient(url, ['http://127.0.0.1/cb']))
    expectPage(answer, { error: 'invalid_client', parameter: 'client_id' })
    assert.match(answer.text, /its client_id is not the URL of the document/)
  })

  test('loses a code whose redirect URI has gone from its document since, and keeps any other', async (t) => {
    t.after(() => given.service.clock.setOffset(0))
    const uris = ['http://127.0.0.1/gone', 'http://127.0.0.1/kept']
    const client = publish('/changing', uris)
    const gone = await given.approveCode(client, { redirect_uri: 'http://127.0.0.1/gone' })
    const kept = await given.approveCode(client, { redirect_uri: 'http://127.0.0.1/kept' })
    publish('/changing', ['http://127.0.0.1/kept'])
    // The service uses its copy of the document for 5 minutes. So the clock is moved for the next request only, which
    // reads the document again. Then the clock is moved back, because the codes expire after a minute.
    given.service.clock.setOffset(6 * MINUTE_MS)
    await given.openRequest(client, { redirect_uri: 'http://127.0.0.1/kept' })
    given.service.clock.setOffset(0)
    expectOauthError(await given.exchange(gone), 'invalid_grant')
    readTokens(await given.exchange(kept))
  })

  test('must not send a client assertion, and needs no secret', async () => {
    const client = publish('/assertion', ['http://127.0.0.1/cb'])
    const approved = await given.approveCode(client)
    const assertion = {
      client_assertion: 'e30.e30.x',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    }
    assert.match(expectOauthError(await given.exchange(approved, assertion), 'invalid_client'), /client_assertion/)
    readTokens(await given.exchange(approved))
  })

  test('is unknown at the token endpoint until a person was asked, and is never fetched there', async () => {
    const url = site.publish('/token', { redirect_uris: ['http://127.0.0.1/cb'] })
    const fields = {
      grant_type: 'authorization_code',
      client_id: url,
      code: 'svc_oac_x',
      redirect_uri: 'http://127.0.0.1/cb',
    }
    expectOauthError(await given.post('/oauth/token', { ...fields, code_verifier: 'x' }), 'invalid_client')
    assert.equal(site.count(url), 0)
  })

  test('is redirected with an error like any other client, once it is known', async () => {
    const client = publish('/errors', ['http://127.0.0.1/cb'])
    const answer = await given.authorize(client, { response_type: 'token' }, { person: given.owner })
    const location = new URL(locationOf(answer, 302))
    assert.equal(location.searchParams.get('error'), 'unsupported_response_type')
  })
})

describe('with OAUTH_CIMD=off', () => {
  let given: OauthServer
  let site: DocumentServer
  before(async () => {
    given = await openOauthServer((config) => ({ ...config, webhooksToLoopback: true, clientDocuments: false }))
    site = await startDocumentServer()
  })
  after(async () => {
    await given.close()
    await site.close()
  })

  test('a client id that is a URL is not accepted, and the metadata does not offer it', async () => {
    const url = site.publish('/c', { redirect_uris: ['http://127.0.0.1/cb'] })
    const answer = await given.authorize(toClient(url, ['http://127.0.0.1/cb']))
    expectPage(answer, { error: 'invalid_client', parameter: 'client_id' })
    assert.equal(site.requests.length, 0)
    const metadata = readBody<object>(await given.ask({ path: '/.well-known/oauth-authorization-server' }), 200)
    assert.equal('client_id_metadata_document_supported' in metadata, false)
  })

  test('a client registers as before', async () => {
    await given.obtainTokens()
  })
})

function toClient(client_id: string, redirect_uris: readonly string[]): RegisteredClient {
  return { client_id, client_id_issued_at: 0, client_name: '', redirect_uris, scope: '' }
}
