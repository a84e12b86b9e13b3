import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { RECIPIENT, seed, type Seed } from '../support/context/seed.ts'
import { expectError, type Answer, type Call } from '../support/http-client.ts'
import { callTool, PROTOCOL_VERSIONS, readRpc, sendMcp, type McpRequest } from '../support/service/mcp-client.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'

const HOST = 'localhost:4100'
const PATHS = ['/mcp', '/mcp/'] as const
const INITIALIZE = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

interface ListedTool {
  readonly name: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly outputSchema: Readonly<Record<string, unknown>>
  readonly annotations: Readonly<Record<string, unknown>>
}

/** What a client of either protocol version of MCP gets from `/mcp` on the wire (D71). */
describe('the MCP server on the wire', () => {
  let given: TestService
  let seeded: Seed
  before(async () => {
    given = await openTestService()
    seeded = await seed(given.context)
  })
  after(() => given.close())

  test('a client of the earlier protocol version initializes, and gets no session', async () => {
    const answer = await sendMcp(given, { key: seeded.key, version: '2025-11-25', ...INITIALIZE })
    const { result } = readRpc(answer)
    assert.equal(answer.headers['mcp-session-id'], undefined)
    assert.equal(answer.headers['connection'], 'close', 'as the client asked for')
    assert.equal(result?.['protocolVersion'], '2025-11-25')
    assert.deepEqual(result['capabilities'], { tools: {} })
    assert.match(String(result['instructions']), /test money.*live money/)
    const { version } = JSON.parse((await given.call({ path: '/server.json' })).text) as { version: string }
    assert.equal((result['serverInfo'] as { version: string }).version, version)
    const done = await call({ body: { jsonrpc: '2.0', method: 'notifications/initialized' } })
    assert.deepEqual([done.status, done.text], [202, ''])
  })

  test('a client of version 2026-07-28 discovers the same server without a handshake', async () => {
    const { result } = readRpc(await sendMcp(given, { key: seeded.key, method: 'server/discover' }))
    assert.deepEqual(result?.['supportedVersions'], ['2026-07-28'])
    assert.match(String(result['instructions']), /purchase_id/)
  })

  test('both protocol versions list the same tools in the same order, with schemas and hints', async () => {
    const lists = await Promise.all(
      PROTOCOL_VERSIONS.map(
        async (version) => readRpc(await sendMcp(given, { key: seeded.key, version, method: 'tools/list' })).result,
      ),
    )
    const [earlier, modern] = lists
    assert.deepEqual(earlier?.['tools'], modern?.['tools'])
    assert.equal(modern?.['ttlMs'], 300_000)
    const tools = earlier?.['tools'] as ListedTool[]
    for (const tool of tools) {
      assert.match(tool.name, /^[a-z_]+$/)
      assert.equal(tool.inputSchema['type'], 'object')
      assert.equal(tool.outputSchema['type'], 'object')
      const pays = tool.name === 'send_payment' || tool.name === 'fetch_paid'
      assert.deepEqual(
        [tool.annotations['readOnlyHint'], tool.annotations['destructiveHint'], tool.annotations['idempotentHint']],
        [!pays, pays, true],
      )
    }
  })

  for (const version of PROTOCOL_VERSIONS) {
    test(`${version}: a tool is called, and a payment is made once`, async () => {
      const { key, agentId, wallet } = await seed(given.context)
      const args = { agent_id: agentId, to: RECIPIENT, amount_usdc: '1.25', purchase_id: `one ${version}` }
      const first = await callTool(given, key, 'send_payment', args, version)
      const again = await callTool(given, key, 'send_payment', args, version)
      assert.deepEqual([first['replayed'], again['replayed']], [false, true])
      assert.equal((first['payment'] as { from: string }).from, wallet)
      const paid = await callTool(given, key, 'get_budget', { agent_id: agentId }, version)
      assert.equal((paid['wallets'] as { spent_24h_usdc: string }[])[0]?.spent_24h_usdc, '1.25')
    })
  }

  const rejected: readonly (readonly [string, McpRequest, number, number])[] = [
    [
      'a header that names another method',
      { method: 'tools/list', headers: ['mcp-method', 'tools/call'] },
      400,
      -32_020,
    ],
    [
      'a header that names another tool',
      { method: 'tools/call', params: { name: 'get_budget' }, headers: ['mcp-name', 'send_payment'] },
      400,
      -32_020,
    ],
    ['a version that does not exist', { method: 'tools/list', version: '2099-01-01' as '2026-07-28' }, 400, -32_022],
    ['an unknown method', { method: 'tools/burn' }, 404, -32_601],
    [
      'an unknown method of the earlier protocol version',
      { method: 'tools/burn', version: '2025-11-25' },
      200,
      -32_601,
    ],
    ['an unknown tool', { method: 'tools/call', params: { name: 'drain' } }, 200, -32_602],
    [
      'a subscription, because nothing changes',
      { method: 'subscriptions/listen', params: { notifications: {} } },
      200,
      -32_603,
    ],
  ]
  for (const [what, message, status, code] of rejected) {
    test(`${what} is rejected by the protocol`, async () => {
      const answer = await sendMcp(given, { key: await given.issueKey(seeded), ...message })
      assert.deepEqual([answer.status, readRpc(answer).error?.code], [status, code], answer.text)
    })
  }

  const bodies: readonly (readonly [string, Omit<Call, 'path'>, number])[] = [
    ['malformed JSON', { body: '{' }, 400],
    ['a batch', { body: [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }] }, 400],
    ['no JSON-RPC', { body: { hello: 1 } }, 400],
    ['bytes that are not UTF-8', { body: Buffer.from([0x22, 0xff, 0x22]) }, 400],
    ['another media type', { body: '{}', type: 'text/plain' }, 415],
    ['more than 64 KiB', { body: 'x'.repeat(65 * 1_024) }, 413],
    ['GET', { method: 'GET' }, 405],
    ['DELETE', { method: 'DELETE' }, 405],
    ['PUT', { method: 'PUT' }, 405],
    ['PATCH', { method: 'PATCH' }, 405],
    ['HEAD', { method: 'HEAD' }, 405],
  ]
  for (const [what, message, status] of bodies) {
    test(`${what} is rejected with ${status}, also with a slash at the end of the path`, async () => {
      for (const path of PATHS) {
        const answer = await call(message, path)
        assert.equal(answer.status, status, answer.text)
        assert.match(answer.headers['content-type'] ?? '', /^application\/json\b/)
        if (status === 405) assert.equal(answer.headers['allow'], 'POST')
      }
    })
  }

  test('a method without a use is rejected before the credential is checked, but GET is not', async () => {
    for (const path of PATHS) {
      assert.equal((await given.call({ method: 'PUT', path, host: HOST })).status, 405)
      expectError(await given.call({ method: 'GET', path, host: HOST }), { type: 'unauthenticated' })
    }
  })

  for (const version of PROTOCOL_VERSIONS) {
    test(`${version}: /mcp/ responds to messages as /mcp does`, async () => {
      const key = await given.issueKey(seeded)
      const [tools, same] = await Promise.all(
        PATHS.map(async (path) => readRpc(await sendMcp(given, { key, version, path, method: 'tools/list' })).result),
      )
      assert.deepEqual(tools, same)
      assert.ok(tools !== undefined)
    })
  }

  const JSON_TYPE = 'application/json'
  const STREAM_TYPE = 'text/event-stream'
  const accepted: readonly (readonly [string | null, string])[] = [
    [JSON_TYPE, JSON_TYPE],
    ['Application/JSON; charset=utf-8', JSON_TYPE],
    [STREAM_TYPE, STREAM_TYPE],
    ['application/json;q=0, text/event-stream', STREAM_TYPE],
    ['application/json, text/event-stream;q=0.0', JSON_TYPE],
    ['*/*', JSON_TYPE],
    ['text/html, application/*;q=0.5', JSON_TYPE],
    [null, JSON_TYPE],
  ]
  for (const version of PROTOCOL_VERSIONS) {
    for (const [accept, type] of accepted) {
      test(`${version}: with ${accept === null ? 'no Accept' : `Accept: ${accept}`}, the response is ${type}`, async () => {
        const key = await given.issueKey(seeded)
        const args = { name: 'get_budget', arguments: { agent_id: seeded.agentId } }
        const messages: readonly McpRequest[] = [
          { method: 'tools/list' },
          { method: 'tools/call', params: args },
          { method: 'tools/call', params: { name: 'drain' } },
        ]
        for (const message of messages) {
          const expected = await sendMcp(given, { key, version, ...message })
          const answer = await sendMcp(given, { key, version, ...message, headers: ['accept', accept ?? ''] })
          assert.equal(answer.status, expected.status, answer.text)
          assert.match(answer.headers['content-type'] ?? '', new RegExp(`^${type}`))
          assert.deepEqual(readRpc(answer), readRpc(expected))
        }
      })
    }
  }

  test('a client of the earlier protocol version that accepts neither type gets 406', async () => {
    const message = { version: '2025-11-25', method: 'tools/list', headers: ['accept', 'text/html'] } as const
    const answer = await sendMcp(given, { key: await given.issueKey(seeded), ...message })
    assert.equal(answer.status, 406, answer.text)
  })

  test('only our hosts are served, so that no page can reach the server under its own name (DNS rebinding)', async () => {
    const key = await given.issueKey(seeded)
    for (const host of ['localhost:4100', 'localhost:4101', 'LOCALHOST:4100']) {
      assert.equal((await sendMcp(given, { key, method: 'tools/list', host })).status, 200, host)
    }
    for (const host of ['evil.example', '127.0.0.1:4100', 'localhost:4102', '']) {
      const error = expectError(await sendMcp(given, { key, method: 'tools/list', host }), { type: 'forbidden' })
      assert.match(error.message, /http:\/\/localhost:4100\/mcp/)
    }
  })

  test('pages may call from https, loopback and our own origins, and from applications, but from no other origin', async () => {
    const key = await given.issueKey(seeded)
    const list = (origin: string) => sendMcp(given, { key, method: 'tools/list', headers: ['origin', origin] })
    for (const origin of [
      'https://claude.ai',
      'http://localhost:6274',
      'http://127.0.0.1:1',
      'http://[::1]:1',
      'vscode-webview://x',
    ]) {
      const answer = await list(origin)
      assert.equal(answer.status, 200, origin)
      assert.equal(answer.headers['access-control-allow-origin'], '*')
    }
    for (const origin of ['http://evil.example', 'null', 'http://localhost.evil.example', 'x']) {
      expectError(await list(origin), { type: 'forbidden' })
    }
  })

  test('a preflight allows the headers of the protocol, and pages can read the limits and the challenge', async () => {
    for (const path of PATHS) {
      const answer = await call({ method: 'OPTIONS', headers: ['origin', 'https://host.example'] }, path)
      assert.equal(answer.status, 204)
      assert.match(String(answer.headers['access-control-allow-methods']), /POST/)
      for (const name of ['authorization', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']) {
        assert.ok(String(answer.headers['access-control-allow-headers']).split(', ').includes(name), name)
      }
      assert.match(String(answer.headers['access-control-expose-headers']), /WWW-Authenticate.*X-RateLimit-Reset/)
    }
  })

  async function call(message: Omit<Call, 'path'>, path: (typeof PATHS)[number] = '/mcp'): Promise<Answer> {
    const accept = ['accept', 'application/json, text/event-stream', ...(message.headers ?? [])]
    return await given.call({
      path,
      host: HOST,
      key: await given.issueKey(seeded),
      ...message,
      headers: accept,
    })
  }
})
