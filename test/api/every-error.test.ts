import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createAgent } from '../../server/src/domain/agents/create-agent.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { issueKey } from '../../server/src/domain/keys/issue-key.ts'
import { monthOf, PLANS } from '../../server/src/domain/plans/plan.ts'
import { address, agent, RECIPIENT, seed, type Seed } from '../support/context/seed.ts'
import { logAll } from '../support/context/log-leaves.ts'
import { seedPayment } from '../support/context/payment-rows.ts'
import { readRows } from '../support/database/read-rows.ts'
import type { Call } from '../support/http-client.ts'
import { openTestService, paymentBody, type TestService } from '../support/service/test-service.ts'
import { offerOf, seedBuyer } from '../support/context/seed-buyer.ts'
import { startFakeSeller, toBase64, type FakeSeller } from '../support/wires/fake-seller.ts'
import { createApiKeySecret } from '../../server/src/values/api-key.ts'
import { hashSecret } from '../../server/src/values/secret.ts'
import { usdcDomain } from '../../server/src/values/transfer-authorization.ts'
import { startTcpProxy, type TcpProxy } from '../support/wires/tcp-proxy.ts'

const HTTPS = ['x-forwarded-proto', 'https', 'x-forwarded-for', '8.8.8.8']
/** Requests that each rate limit allows in 60 seconds. */
const LIMITS = { default: 60, payments: 30 }
const TOO_LARGE = JSON.stringify({ id: 'x'.repeat(65 * 1_024) })
const PREVIEW = '/v1/payments/preview'

/** At least one request for each operation. None of these requests pays. */
const CALLS: readonly Call[] = [
  { path: '/v1/agents', body: { id: 'one' } },
  { path: '/v1/agents' },
  { path: '/v1/agents/nobody' },
  { path: '/v1/payments', body: {} },
  { path: PREVIEW, body: {} },
  { path: '/v1/payments/pay_x' },
  { path: '/v1/payments/pay_x/evidence' },
  { path: '/v1/x402/check', body: {} },
  { path: '/v1/x402/pay', body: {} },
  { path: '/v1/x402/sign', body: {} },
  { path: '/v1/ledger' },
  { path: '/v1/wallets' },
  { path: `/v1/wallets/0x${'0'.repeat(39)}1` },
  { path: '/v1/wallets/0x' },
  { path: '/v1/me' },
  { path: '/v1/events' },
  { path: '/v1/events/evt_x' },
]

/**
 * Provokes each error that the contract declares, at each operation that declares it. So an operation cannot declare an
 * error that it never sends. `given.call` fails if an operation sends an error that it does not declare.
 */
describe('every error of the contract', () => {
  let given: TestService
  let proxy: TcpProxy
  let seeded: Seed
  let seller: FakeSeller
  let keys = 0
  before(async () => {
    given = await openTestService(async (config) => {
      proxy = await startTcpProxy(config.database.url)
      const { live } = config.chains
      return {
        ...config,
        webhooksToLoopback: true,
        ...{ production: true, trustedProxies: ['127.0.0.1'], database: { ...config.database, url: proxy.url } },
        chains: { ...config.chains, live: { ...live, gas: 'self' } },
      }
    })
    seeded = await seed(given.context)
    seller = await startFakeSeller()
    seller.accepts = [offerOf(given.context)]
  })
  after(async () => {
    await given.close()
    await seller.close()
    await proxy.close()
  })

  test('can happen', async () => {
    await breakRequests()
    await breakLimits()
    await breakPurchases()
    await breakEvidence()
    await breakService()
    const { declared, seen } = given.contract
    assert.deepEqual(
      declared.filter((name) => !seen.has(name)),
      [],
    )
  })

  /** Sends requests that the service rejects in every workspace, because of their form, credential, host or path. */
  async function breakRequests(): Promise<void> {
    const held = await issueKey(given.context, { workspaceId: seeded.workspace.id, mode: 'test', actor: OPERATOR })
    await readRows(given.context.db, 'update api_keys set held_at = created_at where id = $1', [held.key.id])
    const [moving, moved] = [await takeOut('taken_out'), await takeOut('moved')]
    for (const call of CALLS) {
      await ask({ ...call, key: moving })
      await ask({ ...call, key: moved })
      await ask({ ...call, key: held.secret })
      // A request over plain HTTP.
      await given.call({ ...call, key: seeded.key })
      await ask(call)
      await ask({ ...call, key: 'none' })
      await ask({ ...call, headers: ['host', 'another.example'] })
    }
    const paths = ['/v1/agents', '/v1/payments', PREVIEW, '/v1/x402/check', '/v1/x402/pay', '/v1/x402/sign']
    const bodies: readonly Call[] = paths.map((path) => ({ path }))
    for (const call of bodies) {
      await ask({ ...call, body: {} })
      await ask({ ...call, body: TOO_LARGE })
      await ask({ ...call, body: 'x', type: 'text/plain' })
    }
    for (const path of ['/v1/payments', PREVIEW]) {
      await pay({ path }, { amount_usdc: '0' })
      await pay({ path }, { to: '0x1' })
      await pay({ path, headers: ['Idempotency-Key', 'k'] })
    }
    for (const folder of ['agents', 'payments', 'wallets', 'events']) await ask({ path: `/v1/${folder}/%ff` })
    await ask({ path: '/v1/payments/%ff/evidence' })
    for (const path of ['/v1/agents', '/v1/ledger', '/v1/wallets', '/v1/events']) await ask({ path: `${path}?limit=x` })
    await ask({ path: '/v1/payments/pay_x?wait=x' })
  }

  /** Returns a key of a workspace that was taken out of this cell. */
  async function takeOut(state: 'taken_out' | 'moved'): Promise<string> {
    const key = createApiKeySecret('test')
    const ended = state === 'moved' ? given.clock.now() : null
    await readRows(
      given.context.db,
      `with move as (
          insert into moves (id, workspace_id, slug, cell, state, started_at, ended_at)
            values ($1, $1, $1, 'eu2', $1, $2, $3) returning id)
        insert into moved_credentials (secret_hash, move_id) select $4, id from move`,
      [state, given.clock.now(), ended, hashSecret(key)],
    )
    return key
  }

  /** Sends requests that a scope, an agent, a grant, a plan, a balance or a rate limit rejects. */
  async function breakLimits(): Promise<void> {
    const { context: ctx, chains } = given
    const { workspace, agentId } = seeded
    const reader = await issueKey(ctx, {
      workspaceId: workspace.id,
      mode: 'test',
      scopes: ['wallet:read'],
      actor: OPERATOR,
    })
    for (const path of ['/v1/payments', PREVIEW]) await pay({ path, key: reader.secret })
    const order = { url: 'https://seller.example/', method: 'POST' }
    await ask({ path: '/v1/x402/check', body: order, key: reader.secret })
    const bound = await issueKey(ctx, { workspaceId: workspace.id, mode: 'test', agentId, actor: OPERATOR })
    await pay({ key: bound.secret }, { agent_id: 'another' })
    await ask({ path: '/v1/ledger?agent_id=another', key: bound.secret })
    await ask({ path: '/v1/agents', body: { id: 'another' }, key: bound.secret })

    await pay({}, { agent_id: 'nobody' })
    await pay({}, { wallet: RECIPIENT })
    const other = agent('ungranted')
    await createAgent(ctx, { workspaceId: workspace.id, mode: 'test', id: other, actor: OPERATOR })
    await pay({}, { agent_id: other })
    await pay({}, { amount_usdc: '11' })
    const grants = [
      { expiresAt: new Date(0) },
      { contracts: [RECIPIENT] },
      { recipients: [address(`0x${'1'.repeat(40)}`)] },
      { dailyCap: '0.5' },
    ]
    for (const options of grants) await payAs(await seed(ctx, options))
    const [unfunded, used] = [await seed(ctx, { mode: 'live' }), await seed(ctx, { mode: 'live' })]
    chains.live.coinWei = 0n
    await payAs(unfunded)
    const allowance = 'insert into allowances (workspace_id, month, used) values ($1, $2, 1000)'
    await readRows(ctx.db, allowance, [used.workspace.id, monthOf(ctx.clock.now())])
    await payAs(used)
    const poor = await seed(ctx)
    chains.test.balances.set(poor.wallet.toLowerCase(), 0n)
    await payAs(poor)

    const full = await seed(ctx)
    for (let count = 1; count < PLANS.developer.agentsMax; count += 1) {
      await createAgent(ctx, { workspaceId: full.workspace.id, mode: 'test', id: agent(`${count}`), actor: OPERATOR })
    }
    await ask({ path: '/v1/agents', body: { id: 'one more' }, key: full.key })

    const busy = await given.issueKey(seeded)
    for (let count = 0; count < LIMITS.default; count += 1) await ask({ path: '/v1/me', key: busy })
    for (let count = 0; count < LIMITS.payments; count += 1) await ask({ path: '/v1/payments', body: {}, key: busy })
    for (const call of CALLS) await ask({ ...call, key: busy })
  }

  /** Asks for the evidence of payments of which there is none, and of a payment of another agent. */
  async function breakEvidence(): Promise<void> {
    const { context: ctx } = given
    const [pending, old] = [await seedPayment(ctx, seeded), await seedPayment(ctx, seeded, { status: 'confirmed' })]
    // As if the payment had been decided before there was a log.
    await readRows(ctx.db, 'delete from log_queue where subject = $1', [old.id])
    await logAll(ctx)
    await ask({ path: `/v1/payments/${pending.id}/evidence` })
    await ask({ path: `/v1/payments/${old.id}/evidence` })
    const place = { workspaceId: seeded.workspace.id, mode: 'test', agentId: agent('somebody') } as const
    await createAgent(ctx, { workspaceId: place.workspaceId, mode: place.mode, id: place.agentId, actor: OPERATOR })
    const { secret } = await issueKey(ctx, { ...place, actor: OPERATOR })
    await ask({ path: `/v1/payments/${old.id}/evidence`, key: secret })
  }

  /** Sends purchases that fail because of the resource, its seller, or a limit. */
  async function breakPurchases(): Promise<void> {
    const { context: ctx, chains } = given
    const { workspace } = seeded
    const reader = await issueKey(ctx, {
      workspaceId: workspace.id,
      mode: 'test',
      scopes: ['wallet:read'],
      actor: OPERATOR,
    })
    const bound = await issueKey(ctx, {
      workspaceId: workspace.id,
      mode: 'test',
      agentId: seeded.agentId,
      actor: OPERATOR,
    })
    const other = agent('unable')
    await createAgent(ctx, { workspaceId: workspace.id, mode: 'test', id: other, actor: OPERATOR })
    const buyer = await seedBuyer(given)
    const [poor, unlucky, used] = [
      await seedBuyer(given),
      await seedBuyer(given),
      await seedBuyer(given, { mode: 'live' }),
    ]
    chains.test.balances.set(poor.wallet.toLowerCase(), 0n)
    const allowance = 'insert into allowances (workspace_id, month, used) values ($1, $2, 1000)'
    await readRows(ctx.db, allowance, [used.workspace.id, monthOf(ctx.clock.now())])
    const limited = [
      { expiresAt: new Date(0) },
      { contracts: [RECIPIENT] },
      { recipients: [address(`0x${'1'.repeat(40)}`)] },
      { maxPerTx: '0.001' },
      { dailyCap: '0.001' },
      { x402: false },
    ]
    const { ask: askToPay } = seller
    for (const path of ['/v1/x402/pay', '/v1/x402/sign']) {
      const buy = async (who: Seed, changes: Readonly<Record<string, unknown>> = {}, call: Partial<Call> = {}) => {
        const body = { ...purchaseBody(path, who), ...changes }
        await ask({ path, body, key: await given.issueKey(who), ...call })
      }
      await buy(seeded, {}, { key: reader.secret })
      await buy(seeded, { agent_id: 'another' }, { key: bound.secret })
      await buy(buyer, {}, { headers: ['Idempotency-Key', 'k'] })
      for (const changes of [
        { max_amount_usdc: '0' },
        { wallet: '0x1' },
        { wallet: RECIPIENT },
        { agent_id: 'nobody' },
      ]) {
        await buy(buyer, changes)
      }
      await buy(buyer, { max_amount_usdc: '0.000001' })
      await buy(seeded, { agent_id: other })
      await buy(poor)
      for (const options of limited) await buy(await seedBuyer(given, options))
      seller.accepts = [offerOf(ctx, { ...liveOffer() })]
      await buy(used)
      seller.accepts = [offerOf(ctx, { network: 'eip155:1' })]
      await buy(buyer)
      seller.accepts = [offerOf(ctx)]
      seller.ask = (response) => response.writeHead(402).end()
      await buy(buyer, path === '/v1/x402/sign' ? { payment_required: 'x' } : {})
      seller.ask = askToPay
      const challenge = challengeOf(path)
      seller.ask = (response) => response.writeHead(402, { 'www-authenticate': challenge }).end()
      for (let count = 0; count < 2; count += 1) {
        await buy(buyer, path === '/v1/x402/sign' ? { payment_required: challenge } : {})
      }
      seller.ask = askToPay
      given.enclave.behave = () => 'unavailable'
      await buy(unlucky, { idempotency_key: path })
      given.enclave.behave = () => 'sign'
    }
    const full = await seedBuyer(given)
    await readRows(ctx.db, `insert into stored_bytes values ($1, 'test', 'answers', 9e9, 9e9)`, [full.workspace.id])
    await ask({ path: '/v1/x402/pay', body: purchaseBody('/v1/x402/pay', full), key: await given.issueKey(full) })
    for (const path of ['/v1/x402/pay', '/v1/x402/check']) {
      const base = path === '/v1/x402/check' ? {} : purchaseBody(path, buyer)
      const send = async (changes: Readonly<Record<string, unknown>>) => {
        await ask({ path, body: { ...base, ...changes }, key: await given.issueKey(buyer) })
      }
      await send({ url: 'http://10.0.0.1/' })
      seller.ask = (response) => response.destroy()
      await send({ url: seller.url })
      await send({ url: seller.url, agent_id: 'a', wallet: '0x1' })
      seller.ask = (response) => response.writeHead(303, { location: '/receipt' }).end()
      await send({ url: seller.url, method: 'POST' })
      seller.ask = askToPay
    }
  }

  /** A challenge of MPP, which can be paid once. */
  function challengeOf(id: string): string {
    const { chainId, usdc } = given.context.chains.test
    const methodDetails = { chainId, credentialTypes: ['authorization'], decimals: 6 }
    const request = JSON.stringify({ amount: '10000', currency: usdc, recipient: RECIPIENT, methodDetails })
    const expires = new Date(given.clock.now().getTime() + 120_000).toISOString()
    const encoded = Buffer.from(request).toString('base64url')
    return `Payment id="${id}", realm="test", method="evm", intent="charge", request="${encoded}", expires="${expires}"`
  }

  function liveOffer(): Readonly<Record<string, unknown>> {
    const { chainId, usdc } = given.context.chains.live
    const { name, version } = usdcDomain(chainId, usdc)
    return { network: `eip155:${chainId}`, asset: usdc, extra: { name, version } }
  }

  function purchaseBody(path: string, who: Seed): Record<string, unknown> {
    keys += 1
    const terms = { agent_id: who.agentId, wallet: who.wallet, max_amount_usdc: '1', idempotency_key: `key ${keys}` }
    const required = { x402Version: 2, resource: { url: seller.url }, accepts: seller.accepts }
    return path === '/v1/x402/sign'
      ? { ...terms, resource_url: seller.url, payment_required: toBase64(required) }
      : { ...terms, url: seller.url }
  }

  /** Sends requests while the enclave or the database fails. */
  async function breakService(): Promise<void> {
    given.enclave.behave = () => 'unavailable'
    await pay()
    await readRows(given.context.db, 'alter table api_keys rename to lost_keys', [])
    for (const call of CALLS) await ask(call)
    await readRows(given.context.db, 'alter table lost_keys rename to api_keys', [])
    proxy.cut()
    for (const call of CALLS) await ask(call)
    proxy.restore()
  }

  /** Sends a request as if it had arrived by HTTPS. By default, the request has the key of `seeded`. */
  async function ask(call: Call): Promise<void> {
    const key = call.key ?? seeded.key
    await given.call({ ...call, key, headers: [...HTTPS, ...(call.headers ?? [])] })
  }

  async function pay(call: Partial<Call> = {}, changes: Readonly<Record<string, unknown>> = {}): Promise<void> {
    await ask({ path: '/v1/payments', body: paymentBody(seeded, changes), key: await given.issueKey(seeded), ...call })
  }

  async function payAs(payer: Seed): Promise<void> {
    await ask({ path: '/v1/payments', body: paymentBody(payer), key: payer.key })
  }
})
