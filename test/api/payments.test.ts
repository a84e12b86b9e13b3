import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { suspendGrant } from '../../server/src/domain/grants/suspend-grant.ts'
import { expectError, readBody, type Answer } from '../support/http-client.ts'
import { address, RECIPIENT, seed, seedWallet, type Seed } from '../support/context/seed.ts'
import { ATTEMPT_MS, PAYMENT_FENCE_MARGIN_MS } from '../../server/src/domain/payments/payment.ts'
import { openTestService, paymentBody, type TestService } from '../support/service/test-service.ts'
import { referenceId } from '../../server/src/domain/payments/derived-ids.ts'

type Wire = Readonly<Record<string, unknown>>

describe('payments over HTTP', () => {
  let given: TestService
  before(async () => {
    given = await openTestService()
  })
  beforeEach(() => {
    given.enclave.behave = () => 'sign'
    given.clock.setOffset(0)
  })
  after(() => given.close())

  test('a payment is 201 with every field of the specification, and is found by its id', async () => {
    const seeded = await seed(given.context)
    const changes = { amount_usdc: '1.50', memo: 'lunch 🍜', idempotency_key: 'order 7', to: RECIPIENT.toLowerCase() }
    const answer = await pay(seeded, { ...changes, wallet: seeded.wallet.toLowerCase() })
    const payment = paymentOf(answer)
    assert.deepEqual(payment, {
      id: payment['id'],
      kind: 'transfer',
      agent_id: seeded.agentId,
      grant_id: seeded.grant.id,
      status: 'pending',
      failure_code: null,
      tx_hash: given.enclave.accepted.get(
        referenceId({ workspaceId: seeded.workspace.id, mode: 'test', idempotencyKey: 'order 7', id: '' }),
      ),
      amount_usdc: '1.50',
      to: RECIPIENT,
      from: seeded.wallet,
      memo: 'lunch 🍜',
      idempotency_key: 'order 7',
      request_id: answer.headers['request-id'],
      created_at: payment['created_at'],
      confirmed_at: null,
    })
    assert.equal(answer.headers['idempotent-replayed'], undefined)
    const read = await given.call({ path: `/v1/payments/${String(payment['id'])}`, key: seeded.key })
    assert.deepEqual(readBody(read, 200), { payment })
  })

  test("the next read shows the payment's new status on the chain", async () => {
    const seeded = await seed(given.context)
    const payment = paymentOf(await pay(seeded))
    given.chains.test.receipts.set(String(payment['tx_hash']), {
      contract: given.config.chains.test.usdc,
      from: seeded.wallet,
      to: RECIPIENT,
      amountMicro: 1_000_000n,
      blockNumber: given.chains.test.head,
    })
    const read = await given.call({ path: `/v1/payments/${String(payment['id'])}`, key: seeded.key })
    const confirmed = readBody<{ payment: Wire }>(read, 200).payment
    assert.equal(confirmed['status'], 'confirmed')
    const [createdAt, confirmedAt] = [String(confirmed['created_at']), String(confirmed['confirmed_at'])]
    assert.equal(new Date(confirmedAt).toISOString(), confirmedAt)
    assert.ok(confirmedAt >= createdAt)
  })

  test('a failed payment says why, and its events contain the payment of their time (D52)', async () => {
    const seeded = await seed(given.context)
    given.enclave.behave = () => 'reject'
    const payment = paymentOf(await pay(seeded))
    const { status, failure_code, confirmed_at } = payment
    assert.deepEqual([status, failure_code, confirmed_at], ['failed', 'enclave_refused', null])
    const page = await given.call({ path: '/v1/events', key: seeded.key })
    const { events } = readBody<{ events: readonly { type: string; data: { payment: Wire } }[] }>(page, 200)
    const told = events.filter(({ type }) => type.startsWith('payment.')).map(({ type, data }) => [type, data.payment])
    const created = { ...payment, status: 'pending', failure_code: null }
    assert.deepEqual(told, [
      ['payment.failed', payment],
      ['payment.created', created],
    ])
  })

  test('a replay is 201 with its header, before the body is checked (D21)', async () => {
    const seeded = await seed(given.context)
    const payment = paymentOf(await pay(seeded, { idempotency_key: 'k' }))
    const bodies: unknown[] = [
      paymentBody(seeded, { idempotency_key: 'k' }),
      paymentBody(seeded, { idempotency_key: 'k', amount_usdc: '-5', to: 'nowhere' }),
      { idempotency_key: 'k' },
      { idempotency_key: 'k', agent_id: 7, memo: [] },
      paymentBody(seeded, { idempotency_key: 'k', dry_run: true }),
      paymentBody(seeded, { idempotency_key: 'k', agent_id: 'nobody', wallet: address(`0x${'7'.repeat(40)}`) }),
    ]
    for (const body of bodies) {
      const answer = await given.call({ path: '/v1/payments', key: seeded.key, body })
      assert.deepEqual(paymentOf(answer), payment)
      assert.equal(answer.headers['idempotent-replayed'], 'true')
    }
  })

  test('a replay names the fields in which it differs, in a fixed order and by their values (D52)', async () => {
    const seeded = await seed(given.context)
    paymentOf(await pay(seeded, { idempotency_key: 'k', memo: 'lunch' }))
    const other = address(`0x${'7'.repeat(40)}`)
    const same = { idempotency_key: 'k', memo: 'lunch' }
    const cases: readonly (readonly [unknown, string | undefined])[] = [
      [paymentBody(seeded, same), undefined],
      [paymentBody(seeded, { ...same, amount_usdc: '1.0', to: RECIPIENT.toLowerCase() }), undefined],
      [paymentBody(seeded, { ...same, amount_usdc: '2', to: other }), 'to, amount_usdc'],
      [paymentBody(seeded, { idempotency_key: 'k' }), 'memo'],
      [paymentBody(seeded, { ...same, wallet: other, agent_id: 'another' }), 'agent_id, wallet'],
      // A missing or invalid value counts as different from the payment's value.
      [{ idempotency_key: 'k' }, 'agent_id, wallet, to, amount_usdc, memo'],
      [paymentBody(seeded, { ...same, amount_usdc: 1, to: 'nowhere', memo: null }), 'to, amount_usdc, memo'],
      [paymentBody(seeded, { ...same, dry_run: true }), undefined],
    ]
    for (const [body, mismatch] of cases) {
      const { status, headers } = await given.call({ path: '/v1/payments', key: seeded.key, body })
      assert.deepEqual([status, headers['idempotent-replayed']], [201, 'true'])
      assert.equal(headers['idempotent-mismatch'], mismatch, JSON.stringify(body))
      assert.match(String(headers['access-control-expose-headers']), /Idempotent-Mismatch/)
    }
  })

  test('unknown members are rejected, each by its name, and no money is moved (D4)', async () => {
    const seeded = await seed(given.context)
    const before = await given.countRows()
    const answer = await pay(seeded, { dry_run: true, idempotencyKey: 'k' })
    const error = expectError(answer, { type: 'validation_failed' })
    assert.deepEqual(error.details, [
      { path: 'dry_run', message: '`dry_run` is not a member of this request.' },
      { path: 'idempotencyKey', message: '`idempotencyKey` is not a member of this request.' },
    ])
    expectError(await pay(seeded, { idempotency_key: 'k', dry_run: true }), { type: 'validation_failed' })
    const agents = { path: '/v1/agents', key: seeded.key, body: { id: 'a', name: 'A' } }
    const { details } = expectError(await given.call(agents), { type: 'validation_failed' })
    assert.deepEqual(details, [{ path: 'name', message: '`name` is not a member of this request.' }])
    assert.deepEqual(await given.countRows(), before)
    assert.equal(paymentOf(await pay(seeded, { idempotency_key: 'k' }))['status'], 'pending')
  })

  test('if there are very many unknown members, the error names the first ones, and shortens long names', async () => {
    const seeded = await seed(given.context)
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`member ${index}`, 1]))
    const { details } = expectError(await pay(seeded, many), { type: 'validation_failed' })
    assert.equal((details as unknown[]).length, 50)
    const long = expectError(await pay(seeded, { ['x'.repeat(10_000)]: 1 }), { type: 'validation_failed' })
    assert.equal((long.details as { path: string }[])[0]?.path, `${'x'.repeat(64)}…`)
  })

  test('a key in a header is rejected unless the body has the same key, because a retry could pay twice (D51)', async () => {
    const seeded = await seed(given.context)
    const refused = { type: 'validation_failed', code: 'idempotency_key_in_header' } as const
    const before = await given.countRows()
    const send = (body: unknown, ...keys: string[]) =>
      given.call({
        path: '/v1/payments',
        key: seeded.key,
        body,
        headers: keys.flatMap((key) => ['Idempotency-Key', key]),
      })
    expectError(await send(paymentBody(seeded), 'k'), refused)
    expectError(await send(paymentBody(seeded), ''), refused)
    expectError(await send(paymentBody(seeded, { idempotency_key: 'k' }), 'other'), refused)
    expectError(await send(paymentBody(seeded, { idempotency_key: 'k' }), 'k', 'k'), refused)
    expectError(await send([], 'k'), refused)
    assert.deepEqual(await given.countRows(), before)
    const payment = paymentOf(await send(paymentBody(seeded, { idempotency_key: 'k' }), 'k'))
    const again = await send(paymentBody(seeded, { idempotency_key: 'k' }), 'k')
    assert.deepEqual(paymentOf(again), payment)
    // The request contains two different keys, and it is unclear which one the caller means. So the service does not
    // even return the existing payment: it compares the keys before it searches for a payment (D18).
    expectError(await send(paymentBody(seeded, { idempotency_key: 'k' }), 'other'), refused)
    const other = { path: '/v1/agents', key: seeded.key, body: { id: 'a' }, headers: ['Idempotency-Key', 'k'] }
    assert.equal((await given.call(other)).status, 201, 'an agent has its id for that')
  })

  test('a key that was used in one workspace and mode is new in every other', async () => {
    const [seeded, other] = [await seed(given.context), await seed(given.context)]
    const first = paymentOf(await pay(seeded, { idempotency_key: 'k' }))
    const second = await pay(other, { idempotency_key: 'k' })
    assert.notEqual(paymentOf(second)['id'], first['id'])
    const live = await given.issueKey(seeded, 'live')
    const body = paymentBody(seeded, { idempotency_key: 'k' })
    const answer = await given.call({ path: '/v1/payments', key: live, body })
    expectError(answer, { type: 'not_found', code: 'agent_not_found' })
  })

  test('a payment of another workspace or mode is 404, like anything that is not a payment id', async () => {
    const [seeded, other] = [await seed(given.context), await seed(given.context)]
    const { id } = paymentOf(await pay(seeded))
    const live = await given.issueKey(seeded, 'live')
    for (const key of [other.key, live]) {
      expectError(await given.call({ path: `/v1/payments/${String(id)}`, key }), { type: 'not_found' })
    }
    for (const text of ['pay_', 'pay_0', '%00', '🤖', "'; drop table payments", `${String(id)}%20`]) {
      const path = `/v1/payments/${text.startsWith('%') ? text : encodeURIComponent(text)}`
      expectError(await given.call({ path, key: seeded.key }), { type: 'not_found' })
    }
  })

  test('every rejection before the signing has its status, code and details, and leaves no payment', async () => {
    const expired = await seed(given.context, { expiresAt: new Date(Date.now() - 1) })
    const friend = address(`0x${'5'.repeat(40)}`)
    const listed = await seed(given.context, { recipients: [friend] })
    const contract = await seed(given.context, { contracts: [friend] })
    const limited = await seed(given.context, { maxPerTx: '5', dailyCap: '6' })
    const poor = await seed(given.context)
    given.chains.test.balances.set(poor.wallet.toLowerCase(), 999_999n)
    const suspended = await seed(given.context)
    await suspendGrant(given.context, {
      workspaceId: suspended.workspace.id,
      grantId: suspended.grant.id,
      actor: OPERATOR,
    })
    const unbound = await seedWallet(given.context, limited)
    paymentOf(await pay(limited, { amount_usdc: '5' }))
    const before = await given.countRows()

    const stranger = address(`0x${'6'.repeat(40)}`)
    const rows: readonly (readonly [Seed, Wire, number, Parameters<typeof expectError>[1]['code'], Wire | null])[] = [
      [limited, { agent_id: 'nobody' }, 404, 'agent_not_found', null],
      [limited, { wallet: stranger }, 404, 'wallet_not_found', null],
      [limited, { wallet: poor.wallet }, 404, 'wallet_not_found', null],
      [limited, { wallet: unbound }, 404, 'permission_not_found', { reason: 'none' }],
      [suspended, {}, 404, 'permission_not_found', { reason: 'suspended' }],
      [expired, {}, 403, 'permission_expired', { expires_at: expired.grant.expiresAt?.toISOString() }],
      [contract, {}, 403, 'contract_not_allowed', { contract_allowlist: [friend] }],
      [listed, {}, 403, 'recipient_not_allowed', { recipient_allowlist: [friend], requested: RECIPIENT }],
      [limited, { amount_usdc: '5.01' }, 403, 'amount_too_large', { max_per_tx_usdc: '5', requested: '5.01' }],
      [
        limited,
        { amount_usdc: '1.50' },
        403,
        'daily_cap_exceeded',
        { daily_cap_usdc: '6', spent_24h_usdc: '5', remaining_24h_usdc: '1', requested: '1.50' },
      ],
      [poor, {}, 403, 'insufficient_balance', { balance_usdc: '0.999999', pending_usdc: '0', requested: '1' }],
    ]
    for (const [seeded, changes, status, code = 'agent_not_found', details] of rows) {
      const answer = await pay(seeded, changes)
      const error = expectError(answer, { status, type: status === 404 ? 'not_found' : 'forbidden', code })
      assert.deepEqual(error.details ?? null, details === null ? null : { ...Object(error.details), ...details })
    }
    assert.deepEqual(await given.countRows(), before)
  })

  test('beyond the plan’s allowance, a live payment is 403 plan_cap_exceeded; test payments are not counted', async () => {
    const live = await seed(given.context, { mode: 'live' })
    const now = given.clock.now()
    const month = `${now.toISOString().slice(0, 7)}-01`
    await given.context.db.write({
      name: '',
      text: 'insert into allowances (workspace_id, month, used) values ($1, $2, 999)',
      values: [live.workspace.id, month],
      read: () => null,
    })
    paymentOf(await pay(live))
    const { details } = expectError(await pay(live), { type: 'forbidden', code: 'plan_cap_exceeded' })
    const resetsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString()
    assert.deepEqual(details, { allowance: 1_000, used: 1_000, resets_at: resetsAt })
  })

  test('if the enclave rejects, the response is 201 with a failed payment; if it does not respond, 500 privy_call_failed', async () => {
    const seeded = await seed(given.context)
    given.enclave.behave = () => 'reject'
    assert.equal(paymentOf(await pay(seeded))['status'], 'failed')
    given.enclave.behave = () => 'unavailable'
    expectError(await pay(seeded, { idempotency_key: 'k' }), { type: 'internal', code: 'privy_call_failed' })
    given.enclave.behave = () => 'sign'
    // By this time, the lost request has expired, and the chain shows that its transfer was never made.
    given.clock.setOffset(ATTEMPT_MS + PAYMENT_FENCE_MARGIN_MS + 1_000)
    given.chains.test.head += 10n
    const answer = await pay(seeded, { idempotency_key: 'k' })
    assert.equal(paymentOf(answer)['status'], 'pending')
    assert.equal(answer.headers['idempotent-replayed'], 'true')
  })

  test('a 500 privy_call_failed says whether a retry is safe (D58)', async () => {
    const seeded = await seed(given.context)
    given.enclave.behave = () => 'unavailable'
    const failed = { type: 'internal', code: 'privy_call_failed' } as const
    const keyed = expectError(await pay(seeded, { idempotency_key: 'k' }), failed)
    assert.match(keyed.message, /retry with the same idempotency_key/i)
    assert.doesNotMatch(keyed.message, /do not retry/i)
    const keyless = expectError(await pay(seeded), failed)
    const { payment_id: id } = keyless.details as { payment_id: string }
    assert.match(keyless.message, /do not retry; read the payment/i)
    assert.ok(keyless.message.includes(id))
    const read = await given.call({ path: `/v1/payments/${id}`, key: seeded.key })
    assert.equal(readBody<{ payment: Wire }>(read, 200).payment['status'], 'pending')
  })

  function pay(seeded: Seed, changes: Wire = {}): Promise<Answer> {
    return given.call({ path: '/v1/payments', key: seeded.key, body: paymentBody(seeded, changes) })
  }

  function paymentOf(answer: Answer): Wire {
    return readBody<{ payment: Wire }>(answer, 201).payment
  }
})
