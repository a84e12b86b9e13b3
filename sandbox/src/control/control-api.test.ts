import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { fetchOnce } from '../lib/fetch-once.ts'
import { createClient, textAt, type Answer, type Body, type Client } from '../demo/http-client.ts'
import { callRpc } from '../chain/call-rpc.ts'
import type { ThrowAwaySandbox } from '../throw-away-sandbox.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { openControlSandbox } from '../../../test/support/sandbox/control-sandbox.ts'

const SHOP = '0x52908400098527886E0F7030069857D2E4169EE7'
const STATUS_MS_MAX = 60_000

let sandbox: ThrowAwaySandbox
let control: Client

async function open(): Promise<void> {
  sandbox = await openControlSandbox()
  control = createClient(sandbox.facts.control_url)
}

/**
 * Creates a workspace with an agent and a funded wallet in test mode. By default, the owner signs the agent's grant.
 */
async function makeSpender({ fund = '50', sign = true } = {}) {
  const made = await control.post('/workspaces', { name: 'Spender' })
  const slug = textAt(made.body, 'workspace.slug')
  const api = createClient(sandbox.facts.base_url, textAt(made.body, 'workspace.keys.test'))
  const wallet = textAt(
    (await control.post(`/workspaces/${slug}/wallets`, { mode: 'test', fund_usdc: fund })).body,
    'wallet.address',
  )
  assert.equal((await api.post('/v1/agents', { id: 'a' })).status, 201)
  const terms = { mode: 'test', agent_id: 'a', wallet, max_per_tx_usdc: '10', daily_cap_usdc: '20', sign }
  const granted = await control.post(`/workspaces/${slug}/grants`, terms)
  assert.equal(granted.status, 201, JSON.stringify(granted.body))
  const pay = (amount: string, change: object = {}): Promise<Answer> =>
    api.post('/v1/payments', { agent_id: 'a', wallet, to: SHOP, amount_usdc: amount, ...change })
  return { slug, api, wallet, pay, terms, grantId: textAt(granted.body, 'grant.id'), granted }
}

async function awaitStatus(api: Client, { body }: Answer, status: string): Promise<void> {
  const id = textAt(body, 'payment.id')
  const look = async () => textAt((await api.get(`/v1/payments/${id}`)).body, 'payment.status') === status
  await waitFor(`the payment to be ${status}`, look, STATUS_MS_MAX)
}

async function nowAt(path: string): Promise<number> {
  return Date.parse(String((await control.get(path)).body['now']))
}

async function readChainTime(): Promise<number> {
  const block = await callRpc(sandbox.facts.chains.test.rpc_url, 'eth_getBlockByNumber', ['latest', false])
  return Number((block as { timestamp: string }).timestamp)
}

async function statusOf(key: string): Promise<number> {
  return (await createClient(sandbox.facts.base_url, key).get('/v1/me')).status
}

async function injectFault(fault: string): Promise<void> {
  assert.deepEqual((await control.post('/enclave/faults', { fault, count: 1 })).body, {})
}

describe('the facts', () => {
  before(open)

  it('are those of sandbox.json, with the time', async () => {
    const { status, body } = await control.get('/')
    assert.equal(status, 200)
    const { now, endpoints, ...facts } = body
    assert.ok(endpoints !== null && typeof endpoints === 'object' && 'POST /enclave/faults' in endpoints)
    assert.deepEqual(facts, JSON.parse(await readFile(join(sandbox.dataDir, 'sandbox.json'), 'utf8')))
    assert.ok(Math.abs(Date.parse(String(now)) - Date.now()) < 60_000)
  })

  it('describe a workspace that can pay at once, in both modes', async () => {
    const { workspace, base_url: baseUrl } = sandbox.facts
    for (const mode of ['test', 'live'] as const) {
      const api = createClient(baseUrl, workspace.keys[mode])
      const order = { agent_id: 'demo-agent', wallet: workspace.wallets[mode], to: SHOP }
      assert.equal((await api.post('/v1/payments', { ...order, amount_usdc: '10' })).status, 201)
      const refused = await api.post('/v1/payments', { ...order, amount_usdc: '10.01' })
      assert.equal(textAt(refused.body, 'error.code'), 'amount_too_large')
    }
  })
})

describe('people', () => {
  before(open)

  it('create a workspace with two keys that work', async () => {
    const { status, body } = await control.post('/workspaces', { name: 'Two Keys Ltd', plan: 'pro' })
    assert.equal(status, 201)
    assert.equal(textAt(body, 'workspace.slug'), 'two-keys-ltd')
    assert.equal(textAt(body, 'workspace.plan'), 'pro')
    for (const mode of ['test', 'live']) {
      const me = await createClient(sandbox.facts.base_url, textAt(body, `workspace.keys.${mode}`)).get('/v1/me')
      assert.equal(textAt(me.body, 'mode'), mode)
      assert.equal(textAt(me.body, 'account_slug'), 'two-keys-ltd')
    }
  })

  it('create, rotate and revoke a key', async () => {
    const issued = await control.post('/workspaces/demo/keys', { mode: 'live' })
    assert.equal(issued.status, 201)
    assert.match(textAt(issued.body, 'key.id'), /^key_/)
    const old = textAt(issued.body, 'key.secret')
    const rotated = await control.post('/keys/rotate', { key: old })
    assert.equal(rotated.status, 201)
    assert.ok(Date.parse(String(rotated.body['grace_until'])) > Date.now())
    const fresh = textAt(rotated.body, 'key.secret')
    assert.deepEqual([await statusOf(old), await statusOf(fresh)], [200, 200])
    assert.deepEqual(await control.post('/keys/revoke', { key: old }).then(({ status, body }) => [status, body]), [
      200,
      {},
    ])
    assert.deepEqual([await statusOf(old), await statusOf(fresh)], [401, 200])
  })

  it('create a key for one agent and some scopes', async () => {
    const terms = { mode: 'test', agent_id: 'demo-agent', scopes: ['wallet:read'] }
    const { status, body } = await control.post('/workspaces/demo/keys', terms)
    assert.equal(status, 201)
    const me = await createClient(sandbox.facts.base_url, textAt(body, 'key.secret')).get('/v1/me')
    assert.deepEqual([me.body['agent_id'], me.body['scopes']], ['demo-agent', ['wallet:read']])
  })

  it('sign a pending grant, and revoke an active one', async () => {
    const { granted, grantId, pay } = await makeSpender({ sign: false })
    assert.equal(textAt(granted.body, 'grant.status'), 'pending')
    assert.equal(textAt((await pay('1')).body, 'error.code'), 'permission_not_found')
    const signed = await control.post(`/grants/${grantId}/sign`, {})
    assert.equal(textAt(signed.body, 'grant.status'), 'active')
    assert.equal((await pay('1')).status, 201)
    assert.equal((await control.post(`/grants/${grantId}/sign`, {})).status, 409)
    const revoked = await control.post(`/grants/${grantId}/revoke`, {})
    assert.equal(textAt(revoked.body, 'grant.status'), 'revoked')
    assert.equal(textAt((await pay('1')).body, 'error.code'), 'permission_not_found')
  })

  it('suspend a grant, and resume it', async () => {
    const { grantId, pay } = await makeSpender()
    const suspended = await control.post(`/grants/${grantId}/suspend`, {})
    assert.match(textAt(suspended.body, 'grant.suspended_at'), /^20/)
    assert.equal(textAt((await pay('1')).body, 'error.code'), 'permission_not_found')
    const resumed = await control.post(`/grants/${grantId}/resume`, {})
    assert.deepEqual([resumed.status, textAt(resumed.body, 'grant.status')], [200, 'active'])
    assert.equal((await pay('1')).status, 201)
  })

  it('sign for several agents of one wallet at once', async () => {
    const { slug, api, terms } = await makeSpender()
    const answers = await Promise.all(
      ['b', 'c', 'd'].map(async (id) => {
        await api.post('/v1/agents', { id })
        return await control.post(`/workspaces/${slug}/grants`, { ...terms, agent_id: id })
      }),
    )
    assert.deepEqual(
      answers.map(({ body }) => textAt(body, 'grant.status')),
      ['active', 'active', 'active'],
    )
  })

  it('sign without a body', async () => {
    const { grantId } = await makeSpender({ sign: false })
    const headers = { 'content-type': 'application/json' }
    const url = `${sandbox.facts.control_url}/grants/${grantId}/sign`
    const response = await fetchOnce(url, { method: 'POST', headers })
    assert.equal(textAt((await response.json()) as Body, 'grant.status'), 'active')
  })

  it('change the plan and the used part of its allowance', async () => {
    const { slug } = await makeSpender()
    const changed = await control.post(`/workspaces/${slug}/plan`, { plan: 'scale', allowance_used: 3 })
    assert.deepEqual([changed.status, changed.body], [200, { workspace: { slug, name: 'Spender', plan: 'scale' } }])
  })
})

describe('the faucet, the clock, the chains and the enclave', () => {
  before(open)

  it('the faucet sends USDC to any address', async () => {
    const { pay, wallet } = await makeSpender({ fund: '0' })
    assert.equal(textAt((await pay('1')).body, 'error.code'), 'insufficient_balance')
    const given = await control.post('/faucet', { mode: 'test', address: wallet, amount_usdc: '1' })
    assert.equal(given.status, 201)
    assert.match(textAt(given.body, 'tx_hash'), /^0x[0-9a-f]{64}$/)
    assert.equal((await pay('1')).status, 201)
  })

  it("the service's clock is moved forward, and back to the real time", async () => {
    const { pay } = await makeSpender()
    assert.equal((await pay('10')).status, 201)
    assert.equal((await pay('10')).status, 201)
    assert.equal(textAt((await pay('1')).body, 'error.code'), 'daily_cap_exceeded')
    const before = await nowAt('/')
    const moved = await control.post('/clock', { advance_seconds: 86_400 })
    assert.equal(moved.status, 200)
    assert.ok(Date.parse(String(moved.body['now'])) - before >= 86_400_000)
    assert.equal((await pay('1')).status, 201)
    const reset = await control.post('/clock', { reset: true })
    assert.ok(Math.abs(Date.parse(String(reset.body['now'])) - Date.now()) < 60_000)
  })

  it('mining is stopped and continued', async () => {
    const { pay, api } = await makeSpender()
    assert.equal((await control.post('/chains/test', { mining: false })).status, 200)
    const stopped = await control.post('/chains/test', { mine: 1 })
    const paid = await pay('1')
    assert.equal(textAt(paid.body, 'payment.status'), 'pending')
    const mined = await control.post('/chains/test', { mine: 2 })
    assert.equal(Number(mined.body['block_number']), Number(stopped.body['block_number']) + 2)
    await awaitStatus(api, paid, 'confirmed')
    await control.post('/chains/test', { mining: true })
  })

  it('the time of a chain is moved forward, and payments are confirmed as before', async () => {
    const { pay, api } = await makeSpender()
    const before = await readChainTime()
    assert.equal((await control.post('/chains/test', { advance_seconds: 3_600 })).status, 200)
    assert.ok((await readChainTime()) >= before + 3_600)
    await awaitStatus(api, await pay('1'), 'confirmed')
  })

  it('the last blocks are replaced, and the payment is mined again', async () => {
    const { pay, api } = await makeSpender()
    await control.post('/chains/test', { mining: false })
    const paid = await pay('1')
    await control.post('/chains/test', { mine: 1 })
    assert.equal((await control.post('/chains/test', { reorg: 1 })).status, 200)
    await control.post('/chains/test', { mining: true })
    await awaitStatus(api, paid, 'confirmed')
  })

  it('a transfer is made to revert', async () => {
    const { pay, api } = await makeSpender()
    assert.equal((await control.post('/chains/test', { fail_transfers: 1 })).status, 200)
    await awaitStatus(api, await pay('1'), 'failed')
    await awaitStatus(api, await pay('1'), 'confirmed')
  })

  it('a wallet gets native coins', async () => {
    const order = { mode: 'test', address: '0x00000000000000000000000000000000000000c0', amount_coin: '0.5' }
    assert.equal((await control.post('/faucet', order)).status, 201)
    assert.equal((await control.post('/faucet', order)).status, 201)
    const body = { jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: [order.address, 'latest'] }
    const { rpc_url: url } = sandbox.facts.chains.test
    const headers = { 'content-type': 'application/json' }
    const answer = await (await fetchOnce(url, { method: 'POST', headers, body: JSON.stringify(body) })).json()
    assert.equal(BigInt((answer as { result: string }).result), 10n ** 18n)
  })

  it("the enclave's clock and pace are set, and faults that were not used are removed", async () => {
    const { pay } = await makeSpender()
    const readDate = async (): Promise<number> =>
      Date.parse((await fetchOnce(`${sandbox.facts.enclave_url}/v1/wallets/x`)).headers.get('date') ?? '')
    await control.post('/enclave/clock', { offset_seconds: 3_600 })
    assert.ok((await readDate()) - Date.now() > 3_000_000)
    await control.post('/enclave/clock', { offset_seconds: 0 })
    assert.ok((await readDate()) - Date.now() < 60_000)
    assert.equal((await control.post('/enclave/profile', { profile: 'realistic' })).status, 200)
    assert.equal((await control.post('/enclave/profile', { profile: 'fast' })).status, 200)
    assert.equal((await control.post('/enclave/references', { repeated: 'allow' })).status, 200)
    assert.equal((await control.post('/enclave/references', { repeated: 'collide' })).status, 200)
    assert.equal((await control.post('/enclave/forget-answers', {})).status, 200)
    const random = { fault: 'random', share: 1, seed: 7, faults: ['reject'] }
    assert.equal((await control.post('/enclave/faults', random)).status, 200)
    assert.equal(textAt((await pay('1')).body, 'payment.status'), 'failed')
    assert.equal((await control.post('/enclave/faults', { fault: 'none' })).status, 200)
    const { met } = (await control.get('/enclave/faults')).body as { met: Record<string, number> }
    assert.ok((met['reject'] ?? 0) >= 1, 'the fault that was met is counted')
    assert.notEqual(textAt((await pay('1')).body, 'payment.status'), 'failed')
  })

  it('the enclave is made to reject, to be unavailable, or to lose its response', async () => {
    const { pay } = await makeSpender()
    await injectFault('reject')
    assert.equal(textAt((await pay('1')).body, 'payment.status'), 'failed')
    await injectFault('unavailable')
    const away = await pay('1', { idempotency_key: 'once' })
    assert.equal(textAt(away.body, 'error.code'), 'privy_call_failed')
    assert.equal((await pay('1', { idempotency_key: 'once' })).status, 201)
    await injectFault('lost_response')
    assert.equal((await pay('1', { idempotency_key: 'lost' })).status, 500)
    const found = await pay('1', { idempotency_key: 'lost' })
    assert.match(textAt(found.body, 'payment.tx_hash'), /^0x/)
  })
})

describe('an invalid request', () => {
  before(open)

  const grant = { mode: 'test', agent_id: 'demo-agent', wallet: SHOP, max_per_tx_usdc: '1', daily_cap_usdc: '1' }
  const cases: readonly [string, object, number, RegExp][] = [
    ['/workspaces', {}, 400, /^name /],
    ['/workspaces', { name: ' ' }, 400, /^name /],
    ['/workspaces', { name: 'x', plan: 'gold' }, 400, /^plan /],
    ['/workspaces/demo/keys', {}, 400, /^mode /],
    ['/workspaces/demo/keys', { mode: 'test', agent_id: 'nobody' }, 404, /agent/],
    ['/workspaces/demo/keys', { mode: 'test', scopes: ['admin'] }, 400, /^scopes /],
    ['/workspaces/nobody/keys', { mode: 'test' }, 404, /workspace/],
    ['/keys/rotate', { key: 'svc_test_x' }, 409, /key/],
    ['/keys/revoke', {}, 400, /^key /],
    ['/keys/revoke', { key: 'svc_test_x' }, 404, /key/],
    ['/workspaces/demo/wallets', { mode: 'prod' }, 400, /^mode /],
    ['/workspaces/demo/wallets', { mode: 'test', fund_usdc: 5 }, 400, /^fund_usdc /],
    ['/workspaces/nobody/wallets', { mode: 'test' }, 404, /workspace/],
    ['/workspaces/demo/grants', { ...grant, wallet: '0x1' }, 400, /^wallet /],
    ['/workspaces/demo/grants', { ...grant, max_per_tx_usdc: '1.0000001' }, 400, /^max_per_tx_usdc /],
    ['/workspaces/demo/grants', { ...grant, daily_cap_usdc: undefined }, 400, /^daily_cap_usdc /],
    ['/workspaces/demo/grants', { ...grant, recipient_allowlist: ['x'] }, 400, /^recipient_allowlist\.0 /],
    ['/workspaces/demo/grants', { ...grant, contract_allowlist: [] }, 400, /^contract_allowlist /],
    ['/workspaces/demo/grants', { ...grant, expires_at: 'soon' }, 400, /^expires_at /],
    ['/workspaces/demo/grants', { ...grant, expires_at: '2001-01-01T00:00:00Z' }, 400, /^expires_at /],
    ['/workspaces/demo/grants', { ...grant, sign: 'yes' }, 400, /^sign /],
    ['/workspaces/demo/grants', { ...grant, agent_id: 'nobody' }, 404, /agent/],
    ['/workspaces/demo/grants', grant, 404, /wallet/],
    ['/grants/grt_x/sign', {}, 404, /grant/],
    ['/grants/__proto__/revoke', {}, 404, /grant/],
    ['/faucet', { mode: 'test', address: SHOP, amount_usdc: '0' }, 400, /^amount_usdc /],
    ['/faucet', { mode: 'test', address: 'me', amount_usdc: '1' }, 400, /^address /],
    ['/clock', {}, 400, /advance_seconds, reset/],
    ['/clock', { advance_seconds: -1 }, 400, /^advance_seconds /],
    ['/clock', { advance_seconds: 1e12 }, 400, /^advance_seconds /],
    ['/clock', { reset: false }, 400, /^reset /],
    ['/chains/test', { mine: 0 }, 400, /^mine /],
    ['/chains/test', { advance_seconds: 0 }, 400, /^advance_seconds /],
    ['/chains/test', { mine: 1, reorg: 1 }, 400, /mine, reorg/],
    ['/chains/test', { reorg: 1_000 }, 400, /^reorg /],
    ['/chains/other', { mine: 1 }, 400, /^mode /],
    ['/enclave/faults', { fault: 'fire', count: 1 }, 400, /^fault /],
    ['/enclave/faults', { fault: 'reject' }, 400, /^count /],
    ['/enclave/faults', { fault: 'random', share: 2 }, 400, /^share /],
    ['/enclave/faults', { fault: 'random', share: 1, faults: ['reads_lag'] }, 400, /^faults /],
    ['/enclave/clock', { offset_seconds: 1e10 }, 400, /^offset_seconds /],
    ['/enclave/profile', { profile: 'slow' }, 400, /^profile /],
    ['/enclave/references', { repeated: 'reject' }, 400, /^repeated /],
    ['/faucet', { mode: 'test', address: SHOP, amount_coin: '-1' }, 400, /^amount_coin /],
    ['/workspaces/demo/plan', { plan: 'free' }, 400, /^plan /],
    ['/workspaces/demo/plan', { plan: 'pro', allowance_used: -1 }, 400, /^allowance_used /],
    ['/nowhere', {}, 404, /./],
  ]
  for (const [path, body, status, message] of cases) {
    it(`is ${status}: POST ${path} ${JSON.stringify(body)}`, async () => {
      const answer = await control.post(path, body)
      assert.equal(answer.status, status, JSON.stringify(answer.body))
      // A message begins with the name of the field. In messages from the service, the name is in backticks.
      assert.match(textAt(answer.body, 'error.message').replaceAll('`', ''), message)
    })
  }

  it('is 400 if the body is not JSON, or not an object', async () => {
    for (const body of ['{', '[]', 'null', '"x"']) {
      const headers = { 'content-type': 'application/json' }
      const response = await fetchOnce(`${sandbox.facts.control_url}/workspaces`, { method: 'POST', headers, body })
      assert.equal(response.status, 400)
      assert.equal(textAt((await response.json()) as Body, 'error.type'), 'validation_failed')
    }
  })
})
