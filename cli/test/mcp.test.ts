import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { waitFor } from '../../test/support/wait-for.ts'
import { KEY, startFakeService, type FakeService } from './support/fake-service.ts'
import { errorOf, openHome, type Home, type StartedCli } from './support/run-cli.ts'
import { signInAt } from './support/session-file.ts'

interface RpcRequest {
  readonly id?: number
  readonly method: string
}

/** `bursar mcp` on the wire. `test/conformance` runs it with real clients and the real service. */
describe('the MCP bridge', () => {
  let service: FakeService
  let home: Home
  let bridge: StartedCli
  let held: Map<number, ServerResponse>
  beforeEach(async () => {
    service = await startFakeService()
    home = await openHome()
    held = new Map()
    service.routes.set('POST /mcp', ({ body, authorization }, response) => {
      const { id, method } = JSON.parse(body) as RpcRequest
      if (authorization === 'Bearer svc_test_revoked')
        return void response.writeHead(401).end('{"error":{"message":"No."}}')
      if (id === undefined) return void response.writeHead(202).end()
      if (method === 'hold') return void held.set(id, response)
      if (method === 'stream') {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: {} })}\n\n`)
        return void response.end(
          `data: ${JSON.stringify({ jsonrpc: '2.0', id, result: {} }, null, 1).replaceAll('\n', '\ndata: ')}\n\n`,
        )
      }
      if (method === 'large')
        return void response.end(`{"jsonrpc":"2.0",\n "id":${id},"result":{"n":9007199254740993}}`)
      if (method === 'nameless') {
        response.writeHead(400, { 'content-type': 'application/json' })
        return void response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"A header is missing."}}')
      }
      if (method === 'drop') return void response.destroy()
      if (method === 'missing') {
        response.writeHead(404, { 'content-type': 'application/json' })
        return void response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'Unknown.' } }))
      }
      return { jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25', method } }
    })
    bridge = home.start(['mcp'], { env: { BURSAR_URL: service.url, BURSAR_API_KEY: KEY } })
  })
  afterEach(async () => {
    await home.close()
    await service.close()
  })
  const send = (message: object): void =>
    void bridge.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const answerTo = (id: number | null): Promise<Record<string, unknown>> =>
    waitFor(`an answer to ${id}`, () => bridge.lines().find((line) => line['id'] === id))
  const errorTo = async (id: number | null) => (await answerTo(id))['error'] as { code: number; message: string }

  test('requests and responses pass, notifications get none, and the end of the input ends the bridge', async () => {
    send({ id: 1, method: 'initialize' })
    send({ method: 'notifications/initialized' })
    send({ id: 2, method: 'tools/list' })
    bridge.process.stdin.end()
    const { code, stderr } = await bridge.ended
    assert.deepEqual([code, stderr], [0, ''])
    assert.deepEqual(new Set(bridge.lines().map(({ id }) => id)), new Set([1, 2]))
    const posts = service.seen.filter(({ path }) => path === '/mcp')
    assert.deepEqual(
      posts.map(({ headers }) => headers['mcp-protocol-version']),
      [undefined, '2025-11-25', '2025-11-25'],
    )
    assert.equal(posts[0]?.headers.accept, 'application/json, text/event-stream')
  })

  test('a slow request does not hold up the next one', async () => {
    send({ id: 1, method: 'hold' })
    send({ id: 2, method: 'ping' })
    await answerTo(2)
    const response = await waitFor('the slow request', () => held.get(1))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"result":{}}')
    await answerTo(1)
  })

  test('a stream becomes lines, one for each message', async () => {
    send({ id: 1, method: 'stream' })
    await answerTo(1)
    assert.deepEqual(bridge.lines(), [
      { jsonrpc: '2.0', method: 'notifications/progress', params: {} },
      { jsonrpc: '2.0', id: 1, result: {} },
    ])
  })

  test('a message passes as it is, in one line', async () => {
    send({ id: 1, method: 'large' })
    await answerTo(1)
    assert.equal(bridge.output.stdout, '{"jsonrpc":"2.0",  "id":1,"result":{"n":9007199254740993}}\n')
  })

  test('a request that the client cancels leaves the service, and gets no response', async () => {
    send({ id: 1, method: 'hold' })
    const response = await waitFor('the request', () => held.get(1))
    const left = new Promise((resolve) => response.on('close', resolve))
    send({ method: 'notifications/cancelled', params: { requestId: 1 } })
    await left
    bridge.process.stdin.end()
    await bridge.ended
    assert.deepEqual(bridge.lines(), [])
  })

  test('an error of the server passes unchanged', async () => {
    send({ id: 1, method: 'missing' })
    assert.deepEqual(await errorTo(1), { code: -32_601, message: 'Unknown.' })
  })

  test('an error that names no request still answers the request', async () => {
    send({ id: 1, method: 'nameless' })
    assert.deepEqual(await errorTo(1), { code: -32_603, message: 'A header is missing.' })
  })

  test('a lost response is an error that says how to repeat a payment', async () => {
    send({ id: 1, method: 'drop' })
    assert.doesNotMatch((await errorTo(1)).message, /purchase_id/)
    service.routes.set('POST /mcp', (_request, response) => void response.destroy())
    send({ id: 2, method: 'tools/call', params: { name: 'send_payment' } })
    const { code, message } = await errorTo(2)
    assert.equal(code, -32_603)
    assert.match(message, /repeat it with the same purchase_id/)
  })

  test('a line that is no message gets an error, and the bridge continues', async () => {
    bridge.process.stdin.write('[]\n')
    assert.equal((await errorTo(null)).code, -32_700)
    bridge.process.stdin.write(`"${'x'.repeat(300_000)}"\n`)
    await waitFor('the second error', () => bridge.lines().length === 2)
    send({ id: 3, method: 'ping' })
    await answerTo(3)
  })

  test('a rejected credential is an error that says what to do, and is not shown', async () => {
    const started = home.start(['mcp'], { env: { BURSAR_URL: service.url, BURSAR_API_KEY: 'svc_test_revoked' } })
    started.process.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`)
    const { stdout, stderr } = await started.ended
    const { error } = JSON.parse(stdout) as { error: { code: number; message: string } }
    assert.equal(error.code, -32_001)
    assert.match(error.message, /bursar login/)
    assert.doesNotMatch(stdout + stderr, /svc_test_revoked/)
  })

  test('the token of a sign-in is refreshed while the bridge runs', async () => {
    const { access_token: token } = await signInAt(home, service)
    const { routes } = service
    const pass = routes.get('POST /mcp')
    routes.set('POST /mcp', (request, response) => {
      const isKnown = service.tokens.has(request.authorization?.replace('Bearer ', '') ?? '')
      return isKnown ? pass?.(request, response) : void response.writeHead(401).end()
    })
    const started = home.start(['mcp'], { env: { BURSAR_URL: service.url } })
    started.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`)
    await waitFor('the first answer', () => started.lines().length === 1)
    service.tokens.delete(token)
    started.process.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' })}\n`)
    assert.equal((await started.ended).code, 0)
    assert.ok(
      started.lines().every((line) => 'result' in line),
      started.output.stdout,
    )
    assert.equal(service.refreshes.count, 1)
  })

  test('without a credential, the bridge ends at once with exit code 3', async () => {
    const result = await home.run(['mcp'], { env: { BURSAR_URL: service.url } })
    assert.deepEqual([result.code, result.stdout, errorOf(result).error['code']], [3, '', 'not_signed_in'])
  })
})
