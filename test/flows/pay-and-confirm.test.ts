import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { readConfig } from '../../server/src/config.ts'
import { suspendGrant } from '../../server/src/domain/grants/suspend-grant.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { createLogger } from '../../server/src/lib/logger.ts'
import { openContext } from '../../server/src/service.ts'
import { call } from '../support/http-client.ts'
import {
  listPaymentEvents,
  makeAddress,
  makeAgent,
  makeGrant,
  createPayer,
  makeWallet,
  pay,
  readAgent,
  readPayment,
  waitForRecord,
} from '../support/sandbox/payer-fixture.ts'
import { openSharedSandboxFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'

describe('a payment, from the first signature to the chain', () => {
  let fixture: SandboxFixture
  before(async () => {
    fixture = await openSharedSandboxFixture()
  })

  for (const mode of ['test', 'live'] as const) {
    test(`an agent can pay once the owner has signed its grant, and not before, in ${mode} mode`, async () => {
      const { workspace } = (await fixture.control('/workspaces', { name: `Main job ${mode}` })).body
      const { slug } = workspace
      const key = workspace.keys[mode]
      const wallet = await makeWallet(fixture, { slug, mode, fundUsdc: '20' })
      const agentId = await makeAgent(fixture, key)
      const grantId = await makeGrant(fixture, { slug, mode, agentId, wallet }, { grant: { sign: false } })
      const payer = { slug, mode, key, agentId, wallet, grantId, recipient: makeAddress() }

      const pending = await readAgent(fixture, payer)
      assert.deepEqual([pending.status, pending.active_signers, pending.pending_signers], ['no_permissions', 0, 1])
      assert.deepEqual(pending.wallets, [])
      const early = await pay(fixture, payer)
      assert.deepEqual([early.status, early.body.error.code], [404, 'permission_not_found'])

      assert.equal((await fixture.control(`/grants/${grantId}/sign`)).body.grant.status, 'active')
      const active = await readAgent(fixture, payer)
      assert.deepEqual([active.status, active.active_signers, active.pending_signers], ['active', 1, 0])

      const { status, body, text } = await pay(fixture, payer, { amount_usdc: '1.250000', memo: 'a coffee' })
      assert.equal(status, 201, text)
      const { payment } = body
      assert.match(payment.id, /^pay_.{26}$/)
      assert.match(String(payment.tx_hash), /^0x[0-9a-f]{64}$/)
      assert.deepEqual(
        { ...payment, id: '', tx_hash: '', created_at: '' },
        {
          id: '',
          kind: 'transfer',
          agent_id: agentId,
          grant_id: grantId,
          status: 'pending',
          failure_code: null,
          tx_hash: '',
          amount_usdc: '1.250000',
          to: payer.recipient,
          from: wallet,
          memo: 'a coffee',
          idempotency_key: null,
          request_id: payment.request_id,
          created_at: '',
          confirmed_at: null,
        },
      )
      await waitForRecord(fixture, payment.id, 'confirmed')
      const confirmed = await readPayment(fixture, payer, payment.id)
      const { confirmed_at } = confirmed
      assert.ok(confirmed_at !== null && confirmed_at >= payment.created_at)
      assert.deepEqual(confirmed, { ...payment, status: 'confirmed', confirmed_at })
      assert.deepEqual(await listPaymentEvents(fixture, payment.id), ['payment.created', 'payment.confirmed'])
      const chain = fixture.chains[mode]
      assert.equal(await chain.balanceOf(wallet), 18_750_000n)
      assert.equal(await chain.balanceOf(payer.recipient), 1_250_000n)
      const [transfer] = await chain.listTransfers(wallet)
      assert.equal(transfer?.txHash, payment.tx_hash)
      const other = fixture.chains[mode === 'test' ? 'live' : 'test']
      assert.equal(await other.balanceOf(payer.recipient), 0n)
    })
  }

  test('an API key cannot read the other mode or another workspace', async () => {
    const payer = await createPayer(fixture)
    const { payment } = (await pay(fixture, payer)).body
    const { workspace } = (await fixture.control('/workspaces', { name: 'Stranger' })).body
    const rows = await fixture.query('select slug from workspaces where slug = $1', [payer.slug])
    assert.equal(rows.length, 1)
    const live = (await fixture.control(`/workspaces/${payer.slug}/keys`, { mode: 'live' })).body.key.secret
    for (const key of [workspace.keys.test, live]) {
      assert.equal((await call(fixture.baseUrl, 'GET', `/v1/payments/${payment.id}`, { key })).status, 404)
      assert.equal((await call(fixture.baseUrl, 'GET', `/v1/agents/${payer.agentId}`, { key })).status, 404)
      const stolen = await pay(fixture, payer, { key })
      assert.deepEqual([stolen.status, stolen.body.error.code], [404, 'agent_not_found'])
    }
  })

  test('a transfer that reverts on the chain makes the payment fail, and releases its amount', async () => {
    const payer = await createPayer(fixture, { dailyCapUsdc: '10' })
    await fixture.control('/chains/test', { fail_transfers: 1 })
    const { payment } = (await pay(fixture, payer, { amount_usdc: '7' })).body
    assert.equal(payment.status, 'pending')
    await waitForRecord(fixture, payment.id, 'failed')
    assert.deepEqual(await listPaymentEvents(fixture, payment.id), ['payment.created', 'payment.failed'])
    assert.equal((await readAgent(fixture, payer)).wallets[0]?.['remaining_24h_usdc'], '10')
    assert.equal(await fixture.chains.test.balanceOf(payer.wallet), 1_000_000_000n)
    assert.equal((await pay(fixture, payer, { amount_usdc: '7' })).status, 201)
  })

  test('if the enclave rejects a payment, it fails, and releases its amount and its part of the allowance', async () => {
    const payer = await createPayer(fixture, { mode: 'live', dailyCapUsdc: '10' })
    await fixture.control(`/workspaces/${payer.slug}/plan`, { plan: 'developer', allowance_used: 999 })
    await fixture.control('/enclave/faults', { fault: 'reject', count: 1 })
    const { status, body } = await pay(fixture, payer, { amount_usdc: '7' })
    assert.deepEqual([status, body.payment.status, body.payment.tx_hash], [201, 'failed', null])
    assert.deepEqual(await listPaymentEvents(fixture, body.payment.id), ['payment.created', 'payment.failed'])
    assert.equal((await readAgent(fixture, payer)).wallets[0]?.['remaining_24h_usdc'], '10')
    assert.equal((await pay(fixture, payer, { amount_usdc: '7' })).body.payment.status, 'pending')
    assert.equal((await pay(fixture, payer, { amount_usdc: '3' })).body.error.code, 'plan_cap_exceeded')
  })

  for (const fault of ['unavailable', 'lost_response'] as const) {
    test(`if the enclave's response is "${fault}", the payment is 500 privy_call_failed, and a retry pays once`, async () => {
      const payer = await createPayer(fixture)
      await fixture.control('/enclave/faults', { fault, count: 1 })
      const failed = await pay(fixture, payer, { idempotency_key: fault })
      const { error } = failed.body
      assert.deepEqual([failed.status, error.type, error.code], [500, 'internal', 'privy_call_failed'])
      const retried = await pay(fixture, payer, { idempotency_key: fault })
      assert.equal(retried.status, 201, retried.text)
      assert.equal(retried.headers['idempotent-replayed'], 'true')
      await waitForRecord(fixture, retried.body.payment.id, 'confirmed')
      assert.equal((await fixture.chains.test.listTransfers(payer.wallet)).length, 1)
    })
  }

  test('after a grant is revoked, the next payment is rejected, and a new grant does not reset the spent amount', async () => {
    const payer = await createPayer(fixture, { dailyCapUsdc: '5' })
    assert.equal((await pay(fixture, payer, { amount_usdc: '4' })).status, 201)
    assert.equal((await fixture.control(`/grants/${payer.grantId}/revoke`)).body.grant.status, 'revoked')
    const refused = await pay(fixture, payer)
    assert.deepEqual([refused.status, refused.body.error.code], [404, 'permission_not_found'])
    assert.equal((await readAgent(fixture, payer)).status, 'no_permissions')

    await makeGrant(fixture, payer, { dailyCapUsdc: '5' })
    const over = await pay(fixture, payer, { amount_usdc: '2' })
    assert.deepEqual([over.status, over.body.error.code], [403, 'daily_cap_exceeded'])
    assert.equal((await pay(fixture, payer, { amount_usdc: '1' })).status, 201)
  })

  test('after a grant is suspended, the next payment is rejected with the reason', async () => {
    const payer = await createPayer(fixture)
    assert.equal((await pay(fixture, payer)).status, 201)
    // In production, an admin of the workspace makes this change in the dashboard.
    const rows = await fixture.query('select id from workspaces where slug = $1', [payer.slug])
    const ways = openContext(readConfig(fixture.environment()), {
      clock: createClock(),
      logger: createLogger('silent'),
    })
    try {
      await suspendGrant(ways.context, {
        workspaceId: String(rows[0]?.['id']),
        grantId: payer.grantId,
        actor: OPERATOR,
      })
    } finally {
      await ways.close()
    }
    const refused = await pay(fixture, payer)
    assert.deepEqual([refused.status, refused.body.error.code], [404, 'permission_not_found'])
    assert.deepEqual((await readAgent(fixture, payer)).wallets, [])
  })

  test('a plan limits the number of wallets in each mode separately', async () => {
    const { slug } = (await fixture.control('/workspaces', { name: 'Wallets' })).body.workspace
    for (const mode of ['test', 'live'] as const) {
      for (let index = 0; index < 3; index += 1) await makeWallet(fixture, { slug, mode })
      await assert.rejects(makeWallet(fixture, { slug, mode }), /wallet_cap_reached/)
    }
  })
})
