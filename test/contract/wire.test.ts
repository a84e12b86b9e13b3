import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { startSandbox, type Sandbox } from '../../sandbox/src/start-sandbox.ts'
import { findFreePorts, makeDataDir } from '../../sandbox/src/throw-away-sandbox.ts'

import { call, type AnswerBody } from '../support/http-client.ts'
import { ENDPOINTS, errorAnswer, PROVIDER_HEADERS, type Endpoint } from './provider-contract.ts'
import { startRecordingProxy, type Exchange, type RecordingProxy } from './recording-proxy.ts'
import { findFaults } from './shape.ts'

const ENCLAVE_OFFSET = 3
const DAY_MS = 24 * 60 * 60 * 1_000
const SHOP = '0x52908400098527886E0F7030069857D2E4169EE7'
/**
 * Faults whose responses come from the provider. A gateway's error pages have no fixed form, so they are not checked.
 */
const FAULTS = [
  'reject',
  'rate_limited',
  'credits_spent',
  'sponsorship_off',
  'broadcast_failed',
  'server_error',
  'conflict',
  'lost_response',
] as const

describe("the service's client and the local enclave", () => {
  let dataDir: string
  let proxy: RecordingProxy
  let sandbox: Sandbox

  before(async () => {
    const port = await findFreePorts()
    dataDir = await makeDataDir()
    proxy = await startRecordingProxy(port + ENCLAVE_OFFSET)
    sandbox = await startSandbox({ port, dataDir, enclaveUrl: proxy.url, durable: false })
    await live()
  })

  after(async () => {
    await sandbox.stop()
    await proxy.close()
    await rm(dataDir, { recursive: true, force: true })
  })

  async function control(path: string, body: object): Promise<AnswerBody> {
    const answer = await call(sandbox.facts.control_url, 'POST', path, { body })
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${answer.text}`)
    return answer.body
  }

  /** Makes the requests to check: a grant with every limit, payments, a revocation, and the provider's failures. */
  async function live(): Promise<void> {
    const { slug, keys } = (await control('/workspaces', { name: 'Contract' })).workspace
    const { wallet } = await control(`/workspaces/${slug}/wallets`, { mode: 'test', fund_usdc: '100' })
    const api = async (method: string, path: string, body?: object) =>
      await call(sandbox.facts.base_url, method, path, { key: keys.test, body })
    assert.equal((await api('POST', '/v1/agents', { id: 'payer' })).status, 201)
    const terms = {
      mode: 'test',
      agent_id: 'payer',
      wallet: wallet.address,
      max_per_tx_usdc: '5',
      daily_cap_usdc: '50',
      recipient_allowlist: [SHOP],
      expires_at: new Date(Date.now() + DAY_MS).toISOString(),
    }
    const { grant } = await control(`/workspaces/${slug}/grants`, terms)
    const order = { agent_id: 'payer', wallet: wallet.address, to: SHOP, amount_usdc: '1' }
    const paid = await api('POST', '/v1/payments', order)
    assert.equal(paid.status, 201, paid.text)
    const settled = await api('GET', `/v1/payments/${paid.body.payment.id}?wait=30`)
    assert.equal(settled.body.payment?.status, 'confirmed', settled.text)
    for (const fault of FAULTS) {
      await control('/enclave/faults', { fault, count: 1 })
      const again = { ...order, amount_usdc: '0.01', idempotency_key: fault }
      await api('POST', '/v1/payments', again)
      await api('POST', '/v1/payments', again)
    }
    await control(`/grants/${grant.id}/revoke`, {})
  }

  it('exchange only what the provider documents', () => {
    assert.ok(proxy.exchanges.length > 0)
    assert.deepEqual(proxy.exchanges.flatMap(checkExchange), [])
  })

  it('have used every endpoint of the contract', () => {
    const used = new Set(proxy.exchanges.filter(({ status }) => status === 200).map((one) => findEndpoint(one)?.name))
    const unused = ENDPOINTS.map(({ name }) => name).filter((name) => !used.has(name))
    assert.deepEqual(unused, [])
  })

  it('have exchanged several kinds of failures', () => {
    const failures = new Set(proxy.exchanges.map(({ status }) => status).filter((status) => status >= 400))
    assert.ok(failures.size >= 4, [...failures].join(', '))
  })
})

function findEndpoint({ method, path }: Exchange): Endpoint | undefined {
  return ENDPOINTS.find((endpoint) => endpoint.method === method && endpoint.path.test(path))
}

function checkExchange(exchange: Exchange): string[] {
  const { method, path, body, status, contentType, answer } = exchange
  // The sandbox's own control endpoints do not belong to the provider's API.
  if (path.startsWith('/control/')) return []
  const endpoint = findEndpoint(exchange)
  if (endpoint === undefined) return [`${method} ${path} is not known`]
  const asked = endpoint.request === undefined ? noBody(body) : findFaults(endpoint.request, JSON.parse(body))
  const told =
    status === 200 ? findFaults(endpoint.answer, JSON.parse(answer)) : findFaults(errorAnswer, JSON.parse(answer))
  const form = contentType.startsWith('application/json') ? [] : [`its answer is ${contentType}`]
  const faults = [...checkHeaders(exchange, endpoint), ...asked, ...told, ...form]
  return faults.map((fault) => `${endpoint.name} (${status}): ${fault}`)
}

function noBody(body: string): string[] {
  return body === '' ? [] : ['has a body']
}

function checkHeaders({ headers }: Exchange, { isSigned }: Endpoint): string[] {
  const own = Object.entries(headers).filter(([name]) => name.startsWith('privy-'))
  const wrong = own.filter(([name, value]) => PROVIDER_HEADERS[name]?.test(String(value)) !== true)
  const signature = headers['privy-authorization-signature'] ?? ''
  return [
    ...wrong.map(([name]) => `the header ${name} is not known, or does not fit`),
    ...(/^Basic [A-Za-z0-9+/]+={0,2}$/.test(headers.authorization ?? '') ? [] : ['the credentials are not Basic']),
    ...(headers['privy-app-id'] === undefined ? ['the app is not named'] : []),
    ...(isSigned === true && signature === '' ? ['the request is not signed'] : []),
    ...(isSigned === true && headers['privy-request-expiry'] === undefined ? ['the request never expires'] : []),
  ]
}
