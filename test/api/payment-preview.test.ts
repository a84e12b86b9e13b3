import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectError, readBody, type Answer } from '../support/http-client.ts'
import { RECIPIENT, seed, type Seed } from '../support/context/seed.ts'
import { openTestService, paymentBody, type TestService } from '../support/service/test-service.ts'

type Wire = Readonly<Record<string, unknown>>

describe('POST /v1/payments/preview (D55)', () => {
  let given: TestService
  before(async () => {
    given = await openTestService()
  })
  after(() => given.close())

  test('an allowed payment shows its grant and what remains, and nothing is recorded', async () => {
    const expiresAt = new Date(given.clock.now().getTime() + 60_000)
    const seeded = await seed(given.context, { maxPerTx: '5', dailyCap: '6', expiresAt })
    given.chains.test.balances.set(seeded.wallet.toLowerCase(), 10_000_000n)
    readBody(await send(seeded, '/v1/payments', { amount_usdc: '2.5' }), 201)
    const before = await given.countRows()
    const answer = await send(seeded, '/v1/payments/preview', { amount_usdc: '1.50' })
    assert.deepEqual(previewOf(answer), {
      allowed: true,
      existing_payment: null,
      grant_id: seeded.grant.id,
      expires_at: expiresAt.toISOString(),
      max_per_tx_usdc: '5',
      daily_cap_usdc: '6',
      spent_24h_usdc: '2.5',
      remaining_24h_usdc: '3.5',
      remaining_24h_after_usdc: '2',
      balance_usdc: '10',
      pending_usdc: '2.5',
      available_usdc: '7.5',
    })
    assert.equal(answer.headers['x-ratelimit-limit'], '60')
    assert.deepEqual(await given.countRows(), before)
  })

  test('a rejected payment has the error that the payment gets', async () => {
    const seeded = await seed(given.context, { maxPerTx: '5', dailyCap: '6', recipients: [RECIPIENT] })
    for (const changes of [{ amount_usdc: '5.01' }, { agent_id: 'nobody' }, { to: seeded.wallet }]) {
      const preview = previewOf(await send(seeded, '/v1/payments/preview', changes))
      const refused = JSON.parse((await send(seeded, '/v1/payments', changes)).text) as { error: Wire }
      assert.deepEqual(preview, { allowed: false, error: refused.error })
    }
  })

  test('a known idempotency key shows its payment, even if the rest of the body is not valid', async () => {
    const seeded = await seed(given.context)
    const { payment } = readBody<{ payment: Wire }>(await send(seeded, '/v1/payments', { idempotency_key: 'k' }), 201)
    const requests: readonly (readonly [Wire, string | undefined])[] = [
      [{}, undefined],
      [{ amount_usdc: '2' }, 'amount_usdc'],
      [{ amount_usdc: 2, to: 'nowhere' }, 'to, amount_usdc'],
    ]
    for (const [changes, mismatch] of requests) {
      const answer = await send(seeded, '/v1/payments/preview', { ...changes, idempotency_key: 'k' })
      assert.deepEqual(previewOf(answer), { allowed: true, existing_payment: payment })
      assert.equal(answer.headers['idempotent-replayed'], 'true')
      assert.equal(answer.headers['idempotent-mismatch'], mismatch)
    }
  })

  test('a body that is not valid is rejected as for a payment', async () => {
    const seeded = await seed(given.context)
    const bodies: Wire[] = [{ amount_usdc: '0' }, { to: '0x1' }, { dry_run: true }, { idempotency_key: '' }]
    for (const changes of bodies) {
      const answer = await send(seeded, '/v1/payments/preview', changes)
      assert.deepEqual(JSON.parse(answer.text), JSON.parse((await send(seeded, '/v1/payments', changes)).text))
      assert.equal(answer.status, 400)
    }
    const call = { path: '/v1/payments/preview', key: seeded.key, body: paymentBody(seeded) }
    const withHeader = await given.call({ ...call, headers: ['Idempotency-Key', 'k'] })
    expectError(withHeader, { type: 'validation_failed', code: 'idempotency_key_in_header' })
    expectError(await given.call({ ...call, key: 'none' }), { type: 'unauthenticated' })
  })

  async function send(seeded: Seed, path: string, changes: Wire): Promise<Answer> {
    return await given.call({ path, key: seeded.key, body: paymentBody(seeded, changes) })
  }

  function previewOf(answer: Answer): Wire {
    return readBody<{ preview: Wire }>(answer, 200).preview
  }
})
