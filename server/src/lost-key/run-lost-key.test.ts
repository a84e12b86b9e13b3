import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { expectPayment } from '../../../test/support/context/expect-outcome.ts'
import { paymentRequest, seed, type Seed } from '../../../test/support/context/seed.ts'
import { buyAs, offerOf, seedBuyer } from '../../../test/support/context/seed-buyer.ts'
import { openTestContext, type TestContext } from '../../../test/support/context/test-context.ts'
import { readRows } from '../../../test/support/database/read-rows.ts'
import { startFakeSeller, type FakeSeller } from '../../../test/support/wires/fake-seller.ts'
import { checkSealed } from '../doctor/check-sealed.ts'
import { OPERATOR } from '../domain/audit/audit-entry.ts'
import type { Context } from '../domain/context.ts'
import { checkEncryptionKeys } from '../domain/encryption-keys/check-encryption-keys.ts'
import { openGrant } from '../domain/grants/open-grant.ts'
import { createPayment } from '../domain/payment-requests/create-payment.ts'
import { getPayment } from '../domain/payments/get-payment.ts'
import { ATTEMPT_MS, PAYMENT_FENCE_MARGIN_MS, SEND_WINDOW_MS } from '../domain/payments/payment.ts'
import { reconcilePayment } from '../domain/reconciliation/reconcile-payment.ts'
import { countWallets } from '../domain/wallets/wallets-store.ts'
import { createEndpoint } from '../domain/webhooks/create-endpoint.ts'
import { claimDeliveries } from '../domain/webhooks/claim-deliveries.ts'
import { createLogger } from '../lib/logger.ts'
import type { SealingKey } from '../lib/sealing.ts'
import { openContext } from '../service.ts'
import { microUsdc } from '../values/money.ts'
import { runLostKey } from './run-lost-key.ts'

const ONE = microUsdc(1_000_000n)

describe('an encryption key that is lost', () => {
  const lost: SealingKey = { id: '1', key: randomBytes(32) }
  const kept: SealingKey = { id: '2', key: randomBytes(32) }
  const opened: { close(): Promise<void> }[] = []
  let given: TestContext
  let seller: FakeSeller
  let printed: string[]
  beforeEach(async () => {
    printed = []
    given = await openTestContext((config) => ({ ...config, webhooksToLoopback: true, encryptionKeys: [lost] }))
    seller = await startFakeSeller()
    seller.accepts = [offerOf(given.context)]
  })
  afterEach(async () => {
    await seller.close()
    await Promise.all(opened.splice(0).map((each) => each.close()))
    await given.close()
  })

  function open(...keys: readonly SealingKey[]): Context {
    const options = { clock: given.clock, logger: createLogger('silent') }
    const { context, close } = openContext({ ...given.config, encryptionKeys: keys }, options)
    opened.push({ close })
    return context
  }

  async function run(ctx: Context, retired: number | null): Promise<{ isRefused: boolean }> {
    printed = []
    return await runLostKey(ctx, { keys: [kept], retired, print: (line) => printed.push(line) })
  }

  /** Stores a secret of each kind with the key that is lost, and one wallet and one endpoint with the other key. */
  async function store() {
    await checkEncryptionKeys(given.context, [lost])
    const buyer = await seedBuyer(given)
    const { payment: bought } = await buyAs(given.context, buyer, { url: `${seller.url}/goods` })
    given.enclave.behave = () => 'unavailable'
    await assert.rejects(buyAs(given.context, buyer, { url: `${seller.url}/more`, key: 'unsigned' }))
    given.enclave.behave = () => 'sign'
    const events = ['permission.revoked'] as const
    const place = { workspaceId: buyer.workspace.id, mode: 'test', url: 'http://127.0.0.1:9/', events } as const
    const { endpoint } = await createEndpoint(given.context, { ...place, actor: OPERATOR })
    await given.context.successorKey.read()
    const both = open(kept, lost)
    await checkEncryptionKeys(both, [kept, lost])
    const other = await seed(both)
    return { buyer, bought, endpoint, other }
  }

  /** Leaves a payment pending. */
  async function makePending(buyer: Seed, key: string, behaviour: 'sign and lose the answer' | 'unavailable') {
    given.enclave.behave = () => behaviour
    given.enclave.blind = true
    await assert.rejects(createPayment(given.context, paymentRequest(buyer, { idempotencyKey: key })))
    given.enclave.behave = () => 'sign'
    given.enclave.blind = false
    const [row] = await readRows(given.context.db, 'select id from payments where idempotency_key = $1', [key])
    return await getPayment(given.context, {
      ...{ workspaceId: buyer.workspace.id, mode: 'test' },
      id: String(row?.['id']),
    })
  }

  test('is retired with what it encrypted, and only that; nobody pays twice, and pending payments come to an end', async () => {
    const { buyer, bought, endpoint, other } = await store()
    const [accepted, unsent] = [
      await makePending(buyer, 'accepted', 'sign and lose the answer'),
      await makePending(buyer, 'unsent', 'unavailable'),
    ]
    const ctx = open(kept)
    await assert.rejects(checkEncryptionKeys(ctx, [kept]), /the key "1"/)

    // One signing key, one webhook secret, two purchases, one response, and the key of refresh tokens.
    assert.deepEqual(await run(ctx, null), { isRefused: false })
    assert.match(printed.join('\n'), /npm run lost-key -- --retire 6"/)
    assert.match(printed.join('\n'), new RegExp(`test wallet ${buyer.wallet} .*: 1 signing keys, 1 grants`))
    assert.match(printed.join('\n'), new RegExp(`test endpoint ${endpoint.id}`))
    assert.ok(!printed.join('\n').includes(other.wallet))
    assert.deepEqual(await run(ctx, 5), { isRefused: true })
    await assert.rejects(checkEncryptionKeys(ctx, [kept]), /the key "1"/)

    assert.deepEqual(await run(ctx, 6), { isRefused: false })
    await checkEncryptionKeys(ctx, [kept])
    assert.deepEqual(
      (await checkSealed(ctx.db, [kept])).map(({ level }) => level),
      ['ok'],
    )
    await run(ctx, null)
    assert.match(printed.join('\n'), /Nothing is lost/)

    const sent = given.enclave.requests.length
    const [signed, paid] = [given.enclave.authorizations.length, seller.paid.length]
    await reconcilePayment(ctx, { payment: accepted })
    const replayed = expectPayment(
      await createPayment(ctx, paymentRequest(buyer, { idempotencyKey: 'accepted' })),
      'replayed',
    )
    assert.equal(replayed.id, accepted.id)
    assert.notEqual(replayed.txHash, null)
    const again = await buyAs(ctx, buyer, { url: `${seller.url}/goods` })
    assert.deepEqual([again.payment.id, again.answer, again.header], [bought.id, null, null])
    const unsigned = await buyAs(ctx, buyer, { url: `${seller.url}/more`, key: 'unsigned' })
    assert.deepEqual([unsigned.payment.status, unsigned.header], ['pending', null])
    given.chains.test.head += 1_000n
    given.clock.setOffset(ATTEMPT_MS + PAYMENT_FENCE_MARGIN_MS + 1_000)
    await assert.rejects(createPayment(ctx, paymentRequest(buyer, { idempotencyKey: 'unsent' })), {
      code: 'permission_not_found',
    })
    given.clock.setOffset(SEND_WINDOW_MS + ATTEMPT_MS + PAYMENT_FENCE_MARGIN_MS)
    await reconcilePayment(ctx, { payment: await getPayment(ctx, unsent) })
    assert.equal((await getPayment(ctx, unsent)).failureCode, 'never_received')
    assert.deepEqual(
      [given.enclave.requests.length, given.enclave.authorizations.length, seller.paid.length],
      [sent, signed, paid],
    )

    expectPayment(await createPayment(ctx, paymentRequest(other)), 'created')
  })

  test('leaves a wallet without room for grants, which makes way for a new one, and an endpoint with a new secret', async () => {
    const { buyer, other, endpoint } = await store()
    const ctx = open(kept)
    await run(ctx, null)
    await run(ctx, Number(/--retire (\d+)/.exec(printed.join('\n'))?.[1]))
    const terms = {
      agentId: buyer.agentId,
      maxPerTxMicro: ONE,
      dailyCapMicro: ONE,
      recipientAllowlist: [],
      expiresAt: null,
    }
    const { workspace, wallet } = buyer
    const grant = { ...terms, workspaceId: workspace.id, mode: 'test', wallet, actor: OPERATOR } as const
    await assert.rejects(openGrant(ctx, grant), { code: 'grant_limit_reached', details: { grants_max: 0 } })
    assert.equal(await ctx.db.read(countWallets(workspace.id, 'test')), 0)
    assert.equal(await ctx.db.read(countWallets(other.workspace.id, 'test')), 1)

    const text = 'select action, subject, details from audit_entries where log_id = $1 and details ? $2 order by action'
    const entries = await readRows(ctx.db, text, [workspace.id, 'because'])
    assert.deepEqual(
      entries.map(({ action, subject }) => [action, subject]),
      [
        ['grant.revoked', buyer.grant.id],
        ['wallet.keys_retired', wallet],
        ['webhook.secret_rotated', endpoint.id],
      ],
    )
    const wanted = {
      hangs: false,
      inFlightMax: 1,
      limit: 10,
      leaseMs: 60_000,
      places: { held: new Map(), free: 10 },
    } as const
    const [claimed] = await claimDeliveries(ctx, wanted)
    assert.equal(claimed?.delivery.eventType, 'permission.revoked')
    assert.equal(claimed.secrets.length, 1)
  })
})
