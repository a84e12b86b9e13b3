import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import type { AddedServer } from '../../sandbox/src/processes/servers.ts'
import { send } from '../support/http-client.ts'
import { openHostOf, type AgentHost } from '../support/sandbox/agent-host.ts'
import { isUnauthorized, MCP_PACKAGES, type McpClient, type McpPackage } from '../support/sandbox/mcp-clients.ts'
import { MemoryProvider } from '../support/sandbox/memory-provider.ts'
import { openClockFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'
import { waitFor } from '../support/wait-for.ts'

/**
 * How many calls a client makes at once, and how often its token expires. A client may send 60 token requests a minute
 * from one address (D33).
 */
const PARALLEL = [
  { calls: 2, rounds: 5 },
  { calls: 4, rounds: 5 },
  { calls: 16, rounds: 3 },
]

/**
 * The published MCP clients refresh their token for each call that finds it expired. So parallel calls use one refresh
 * token at the same time (D38a). On a busy machine, requests that are sent together may arrive at different times. So
 * the refresh tokens are locked until all these requests have arrived.
 */
describe('MCP clients whose token expires during parallel calls', () => {
  const agent = new Agent({ keepAlive: true })
  let fixture: SandboxFixture
  let host: AgentHost
  let added: readonly AddedServer[]
  before(async () => {
    fixture = await openClockFixture()
    const { sandbox, dataDir } = fixture
    host = openHostOf({ ...sandbox, dataDir }, sandbox.facts.workspace)
    const env = { ROLE: 'api' }
    added = await Promise.all([sandbox.addServer({ port: 0, env }), sandbox.addServer({ port: 0, env })])
  })
  after(async () => {
    agent.destroy()
    await Promise.all(added.map((server) => server.stop()))
  })

  for (const processes of [1, 3]) {
    for (const pack of MCP_PACKAGES) {
      for (const { calls, rounds } of PARALLEL) {
        test(`${pack.name}: ${calls} calls at once, with ${processes} server processes, stay connected`, async () => {
          const provider = new MemoryProvider()
          const balancer = openBalancer({ calls, processes })
          const client = await connect(pack, provider, balancer)
          for (let round = 1; round <= rounds; round += 1) {
            const before = provider.tokensNow()
            // After it has connected, a client asks for a stream, and does not wait for the response.
            await waitFor('no request is open', () => balancer.open === 0)
            await expire(provider.clientId())
            const answers = await Promise.all(Array.from({ length: calls }, () => client.callTool('get_budget', {})))
            for (const { isError, content } of answers) assert.equal(isError, false, JSON.stringify(content))
            assert.notEqual(provider.tokensNow().refresh_token, before.refresh_token)
          }
          await client.close()
        })
      }
    }
  }

  async function connect(pack: McpPackage, provider: MemoryProvider, { fetch }: Balancer): Promise<McpClient> {
    const options = { url: new URL('/mcp', host.baseUrl), provider, fetch }
    const asking = pack.open(options)
    await assert.rejects(asking.connect(), isUnauthorized)
    await asking.finish(await host.consent(provider.takeRedirect()))
    const client = pack.open(options)
    await client.connect()
    return client
  }

  /** Lets the client's access tokens expire. If the clock were moved, all background jobs would run at the same time. */
  async function expire(clientId: string): Promise<void> {
    await fixture.query(
      `update access_tokens t set expires_at = c.created_at from connections c
        where c.client_id = $1 and t.workspace_id = c.workspace_id and t.connection_id = c.id`,
      [clientId],
    )
  }

  /**
   * Sends each request to the next of the server processes. Holds each refresh back until there is one for each call.
   */
  function openBalancer({ calls, processes }: { calls: number; processes: number }): Balancer {
    const others = added.slice(0, processes - 1).map(({ baseUrl }) => baseUrl)
    let turn = 0
    const held: (() => void)[] = []
    const balancer = {
      open: 0,
      async fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
        if (bodyOf(init).includes('grant_type=refresh_token')) {
          await new Promise<void>((release, reject) => {
            held.push(release)
            if (held.length === calls) refreshTogether(held.splice(0), [host.baseUrl, ...others]).catch(reject)
          })
        }
        const { origin } = new URL(url)
        balancer.open += 1
        try {
          return await forward([origin, ...others][turn++ % processes] ?? origin, new URL(url), init)
        } finally {
          balancer.open -= 1
        }
      },
    }
    return balancer
  }

  /** Lets requests that are held back go, and lets them wait in the database until all of them have arrived. */
  async function refreshTogether(held: readonly (() => void)[], targets: readonly string[]): Promise<void> {
    const client = new pg.Client({ connectionString: fixture.databaseUrl })
    await client.connect()
    await client.query('begin')
    await client.query('lock table refresh_tokens in access exclusive mode')
    for (const release of held) release()
    await waitFor('a refresh to wait for the lock', async () => {
      return (await fixture.query(`select 1 from pg_stat_activity where wait_event_type = 'Lock'`)).length > 0
    })
    // A process that answers this request has received the earlier ones.
    await Promise.all(targets.map((target) => send(target, { path: '/healthz' })))
    await client.end()
  }

  /** Sends a request to one server process. Its `Host` header still names the host of the URL. */
  async function forward(target: string, { pathname, search, host: named }: URL, init: RequestInit): Promise<Response> {
    const answer = await send(target, {
      method: init.method ?? 'GET',
      path: pathname + search,
      headers: [...new Headers(init.headers)].flat(),
      type: null,
      host: named,
      agent,
      ...(init.body == null ? {} : { body: bodyOf(init) }),
    })
    const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)])
    return new Response(answer.status === 202 ? null : answer.text, { status: answer.status, headers })
  }
})

/** What stands between a client and the server processes, as a load balancer does. */
interface Balancer {
  /** How many requests have no response yet. */
  readonly open: number
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>
}

/** Returns the body of a request as text. The clients send text and forms only. */
function bodyOf({ body }: RequestInit): string {
  if (body === undefined || body === null) return ''
  if (typeof body === 'string' || body instanceof URLSearchParams) return body.toString()
  return assert.fail('a client sent a body of another kind')
}
