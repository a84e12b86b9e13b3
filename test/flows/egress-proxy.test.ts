import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { readConfig, type Config } from '../../server/src/config.ts'
import { askFaucet } from '../../server/src/console/ask-faucet.ts'
import { checkEgressProxy } from '../../server/src/doctor/check-egress-proxy.ts'
import { checkEnclave } from '../../server/src/doctor/check-enclave.ts'
import { checkNode } from '../../server/src/doctor/check-node.ts'
import { checkSites } from '../../server/src/doctor/check-sites.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { createLogger } from '../../server/src/lib/logger.ts'
import { openEgressProxy, type EgressProxy } from '../../server/src/lib/outbound/egress-proxy.ts'
import { openOutbound } from '../../server/src/lib/outbound/open-outbound.ts'
import { postJson } from '../../server/src/lib/outbound/post-json.ts'
import { sendRequest } from '../../server/src/lib/outbound/send-request.ts'
import { openChainView } from '../../server/src/provider-check/chain-view.ts'
import { openProviderWire } from '../../server/src/provider-check/provider-wire.ts'
import { openContext } from '../../server/src/service.ts'
import { microUsdc } from '../../server/src/values/money.ts'
import { address } from '../support/context/seed.ts'
import { startConnectProxy, type ConnectProxy } from '../support/wires/connect-proxy.ts'
import { createSelfSigned } from '../support/wires/self-signed.ts'

const HOST = 'outside.example.com'
const PUBLIC = '93.184.216.34'
const SOMEBODY = address('0x70997970c51812dc3a010c7d01b50e0d17dc79c8')
const LIMITS = { timeoutMs: 20_000, responseBytesMax: 1_000, connectionsOf: '' }

// A machine that reaches other servers through the proxy only: no name of these servers exists, and no address responds.
describe('with HTTPS_PROXY, the service reaches through the proxy', () => {
  const usual = getCACertificates('default')
  const trusted = createSelfSigned(HOST)
  const paths: string[] = []
  const outside = createServer(trusted, (request, response) => {
    paths.push(request.url ?? '')
    response.writeHead(404).end('{}')
  })
  const clock = createClock()
  let proxy: ConnectProxy
  let config: Config
  let service: ReturnType<typeof openContext>
  let egress: EgressProxy | null
  before(async () => {
    setDefaultCACertificates([...usual, trusted.cert])
    await new Promise<void>((resolve) => {
      outside.listen(0, '127.0.0.1', resolve)
    })
    proxy = await startConnectProxy((outside.address() as AddressInfo).port)
    config = readConfig({
      BURSAR_ENV: 'production',
      BASE_URL: `https://${HOST}`,
      AUTH_URL: `https://${HOST}`,
      DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      PRIVY_APP_ID: 'app',
      PRIVY_APP_SECRET: 'secret',
      PRIVY_API_URL: `https://${HOST}`,
      TEST_RPC_URLS: `https://${HOST}/test`,
      LIVE_RPC_URLS: `https://${HOST}/live`,
      HTTPS_PROXY: proxy.url.replace('//', '//user:PASSWORD@'),
      NO_PROXY: 'elsewhere.example.com',
    })
    const deps = { clock, logger: createLogger('silent') }
    service = openContext(config, deps)
    egress = openEgressProxy(config.egressProxy, deps)
  })
  beforeEach(() => {
    proxy.asked.length = 0
    paths.length = 0
  })
  after(async () => {
    await service.close()
    await proxy.close()
    outside.closeAllConnections()
    outside.close()
    setDefaultCACertificates(usual)
  })

  /** The host of our own addresses is the same here, so the rule against calling ourselves is left out. */
  function openUsersUrls() {
    const resolve = async () => await Promise.resolve([{ address: PUBLIC, family: 4 }])
    return openOutbound({ policy: { ...service.context.outbound, ownOrigins: [], resolve }, clock })
  }

  const ways: [string, string, () => Promise<unknown>][] = [
    ['the enclave', HOST, async () => service.context.enclave.checkReachable()],
    ['the nodes of the test chain', HOST, async () => service.context.chains.test.checkChainId()],
    ['the nodes of the live chain', HOST, async () => service.context.chains.live.checkChainId()],
    [
      'webhook endpoints',
      PUBLIC,
      async () =>
        postJson(openUsersUrls(), { ...LIMITS, url: `https://${HOST}/`, headers: {}, body: Buffer.from('{}') }),
    ],
    [
      'sellers and documents of clients',
      PUBLIC,
      async () =>
        sendRequest(openUsersUrls(), new URL(`https://${HOST}/`), {
          ...{ ...LIMITS, method: 'GET', headers: {}, body: null, connection: 'new' },
        }),
    ],
    [
      'the faucet',
      HOST,
      async () =>
        askFaucet(`https://${HOST}/`, {
          address: SOMEBODY,
          amountMicro: microUsdc(1n),
          proxy: service.context.outbound.proxy ?? null,
        }),
    ],
    ['the enclave, in the doctor', HOST, async () => checkEnclave(config.enclave, { clock, proxy: egress })],
    [
      'a node, in the doctor',
      HOST,
      async () => checkNode(config.chains.test, { rpcUrl: `https://${HOST}/test`, position: 1, clock, proxy: egress }),
    ],
    ['our own addresses, in the doctor', HOST, async () => checkSites(config, { clock, proxy: egress })],
    ['the enclave, in the provider check', HOST, async () => openProviderWire(config.enclave, egress).get('/v1')],
    ['a node, in the provider check', HOST, async () => openChainView(config.chains.test, egress).readChainId()],
  ]
  for (const [name, host, call] of ways) {
    test(name, async () => {
      // Every request is answered with 404, which some of these calls throw.
      await call().catch(() => undefined)
      assert.deepEqual([...new Set(proxy.asked.map(({ target }) => target))], [`${host}:443`])
      assert.ok(paths.length > 0, 'a request has arrived')
    })
  }

  test('the purchases of an agent, whose connections are opened at the start', async () => {
    const request = { ...LIMITS, method: 'GET', headers: {}, body: null, connection: 'new' } as const
    await sendRequest(service.context.resources, new URL(`https://${PUBLIC}/`), request)
    assert.deepEqual(
      proxy.asked.map(({ target }) => target),
      [`${PUBLIC}:443`],
    )
  })

  test('the doctor says why the proxy does not work, and never shows its password', async () => {
    const see = async (status: number): Promise<string> => {
      proxy.answer = () => status
      const findings = await checkEgressProxy(config, egress)
      assert.doesNotMatch(JSON.stringify(findings), /PASSWORD/)
      return findings.map(({ level, observed, advice = '' }) => `${level}: ${observed} ${advice}`).join()
    }
    assert.match(await see(407), /^fail: .*status 407 Check the user name and the password/)
    assert.match(await see(403), /^fail: .*status 403 Allow CONNECT/)
    assert.match(await see(200), /^ok: it opens a tunnel/)
    const away = { url: 'http://user:PASSWORD@127.0.0.1:9', exempt: [] }
    const closed = openEgressProxy(away, { logger: createLogger('silent') })
    const [finding] = await checkEgressProxy({ ...config, egressProxy: away }, closed)
    assert.match(`${finding?.name} ${finding?.observed}`, /^HTTPS_PROXY \(127.0.0.1:9\) .*ECONNREFUSED$/)
  })
})
