import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { buyAs, offerOf, seedBuyer } from '../../../../test/support/context/seed-buyer.ts'
import type { Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { startFakeSeller, toBase64, type FakeSeller } from '../../../../test/support/wires/fake-seller.ts'
import type { Deadline } from '../../lib/deadline.ts'
import { openPools } from '../../lib/pools.ts'
import { microUsdc } from '../../values/money.ts'
import { signForResource } from './sign-for-resource.ts'
import type { PurchaseState } from './work-on-purchase.ts'

/** How long a test waits for a seller that does not respond. It is enough for the request to arrive there. */
const LEFT_MS = 2_000

describe('a call ends in time', () => {
  let given: TestContext
  let seller: FakeSeller
  before(async () => {
    given = await openTestContext((config) => ({ ...config, webhooksToLoopback: true }))
  })
  beforeEach(async () => {
    given.enclave.behave = () => 'sign'
    given.enclave.authorizations.length = 0
    seller = await startFakeSeller()
    seller.accepts = [offerOf(given.context, { maxTimeoutSeconds: 120 })]
  })
  afterEach(() => seller.close())
  after(() => given.close())

  test('while the seller does not respond: the next call sends the same header at once', async () => {
    const buyer = await seedBuyer(given)
    const respond = seller.deliver
    seller.deliver = () => undefined
    assert.deepEqual(tell(await pay(buyer, untilPaid)), ['pending', 'unknown', undefined])
    assert.equal(seller.paid.length, 1)
    seller.deliver = respond
    assert.deepEqual(tell(await pay(buyer)), ['pending', 'delivered', 'goods'])
    assert.equal(new Set(seller.paid.map(({ header }) => header)).size, 1)
    assert.equal(given.enclave.authorizations.length, 1)
  })

  test('while the seller sends its response slowly: what has arrived is returned', async () => {
    seller.deliver = (response) => void response.writeHead(200).write('half')
    assert.deepEqual(tell(await pay(await seedBuyer(given), untilPaid)), ['pending', 'unknown', 'half'])
  })

  test('if too little time is left to sign and to send, neither is done, and the next call continues', async () => {
    const buyer = await seedBuyer(given)
    const deadline = { limitMs: LEFT_MS, leftMs: () => (seller.requests.length === 0 ? LEFT_MS : LEFT_MS / 10) }
    assert.deepEqual(tell(await pay(buyer, deadline)), ['pending', 'unknown', undefined])
    assert.deepEqual([seller.paid.length, given.enclave.authorizations.length], [0, 0])
    assert.deepEqual(tell(await pay(buyer)), ['pending', 'delivered', 'goods'])
  })

  test('if too little time is left after signing, the header is kept and not sent', async () => {
    const buyer = await seedBuyer(given)
    const { authorizations } = given.enclave
    const deadline = { limitMs: LEFT_MS, leftMs: () => (authorizations.length === 0 ? LEFT_MS : 0) }
    assert.deepEqual(tell(await pay(buyer, deadline)), ['pending', 'unknown', undefined])
    assert.deepEqual([seller.paid.length, authorizations.length], [0, 1])
    assert.deepEqual(tell(await pay(buyer)), ['pending', 'delivered', 'goods'])
    assert.equal(authorizations.length, 1)
  })

  test('while another call works on the purchase, which goes on', async () => {
    const buyer = await seedBuyer(given)
    const held: (() => void)[] = []
    seller.deliver = (response) => held.push(() => response.end('goods'))
    const first = pay(buyer)
    await waitFor('the seller to be paid', () => held.length === 1)
    assert.deepEqual(tell(await pay(buyer, afterLooks(3))), ['pending', 'unknown', undefined])
    for (const release of held) release()
    assert.deepEqual(tell(await first), ['pending', 'delivered', 'goods'])
    assert.equal(seller.paid.length, 1)
  })

  test('when a newcomer needs the place of a call that only waits for another call', async (t) => {
    const pools = openPools({ purchases: { placesMax: 3 } })
    const ctx = { ...given.context, pools }
    const buyer = await seedBuyer(given)
    const held: (() => void)[] = []
    seller.deliver = (response) => held.push(() => response.end('goods'))
    const url = `${seller.url}/goods`
    const first = buyAs(ctx, buyer, { url })
    await waitFor('the seller to be paid', () => held.length === 1)
    const repeated = buyAs(ctx, buyer, { url })
    await waitFor('the other call', () => pools.purchases.taken === 2)
    const newcomers = ['one', 'two'].map((name) => pools.purchases.enter(name, () => undefined))
    t.after(() => newcomers.forEach((ticket) => ticket.leave()))
    assert.deepEqual(
      newcomers.map(({ state }) => state),
      ['placed', 'placed'],
    )
    assert.deepEqual(tell(await repeated), ['pending', 'unknown', undefined])
    for (const release of held) release()
    assert.deepEqual(tell(await first), ['pending', 'delivered', 'goods'])
    assert.equal(seller.paid.length, 1)
  })

  test('but not when a newcomer needs the place of a call that sends the header again', async (t) => {
    const pools = openPools({ purchases: { placesMax: 3 } })
    const buyer = await seedBuyer(given)
    const respond = seller.deliver
    seller.deliver = () => undefined
    await pay(buyer, untilPaid)
    const held: (() => void)[] = []
    seller.deliver = (response, request) => held.push(() => respond(response, request))
    const repeated = buyAs({ ...given.context, pools }, buyer, { url: `${seller.url}/goods` })
    await waitFor('the seller to be paid again', () => held.length === 1)
    const others = [buyer.workspace.id, 'one', 'two'].map((name) => pools.purchases.enter(name, () => undefined))
    t.after(() => others.forEach((ticket) => ticket.leave()))
    assert.deepEqual(
      others.map(({ state }) => state),
      ['placed', 'placed', 'waiting'],
    )
    for (const release of held) release()
    assert.deepEqual(tell(await repeated), ['pending', 'delivered', 'goods'])
  })

  test('also when it only signs', async () => {
    const buyer = await seedBuyer(given)
    const { promise, resolve } = Promise.withResolvers<void>()
    given.enclave.behave = () => 'sign when released'
    given.enclave.released = promise
    const first = sign(buyer)
    await waitFor('the enclave to be asked', () => given.enclave.authorizations.length === 1)
    assert.equal((await sign(buyer, afterLooks(3))).header, null)
    resolve()
    const { header } = await first
    assert.notEqual(header, null)
    assert.deepEqual((await sign(buyer)).header, header)
  })

  /** A time limit that ends once the seller was paid. */
  const untilPaid: Deadline = { limitMs: LEFT_MS, leftMs: () => (seller.paid.length === 0 ? LEFT_MS : 0) }

  /** A time limit that ends after somebody has looked at it a few times. */
  function afterLooks(looks: number): Deadline {
    let left = looks
    return { limitMs: LEFT_MS, leftMs: () => ((left -= 1) >= 0 ? LEFT_MS : 0) }
  }

  async function pay(buyer: Seed, deadline?: Deadline): Promise<PurchaseState> {
    return await buyAs(given.context, buyer, { url: `${seller.url}/goods`, ...(deadline && { deadline }) })
  }

  async function sign(buyer: Seed, deadline?: Deadline): Promise<PurchaseState> {
    const terms = {
      ...{ workspaceId: buyer.workspace.id, mode: buyer.mode, agentId: buyer.agentId, wallet: buyer.wallet },
      ...{ maxAmountMicro: microUsdc(1_000_000n), memo: null, idempotencyKey: 'one' },
      ...{ credentialId: null, requestId: null, boundAgentId: null },
    }
    const text = toBase64({ x402Version: 2, resource: { url: seller.url }, accepts: seller.accepts })
    const answer = { status: 402, headers: { 'payment-required': text }, body: Buffer.alloc(0) }
    const course = { stopping: new AbortController().signal, onWait: () => undefined, ...(deadline && { deadline }) }
    const received = { resourceUrl: seller.url, answer, text }
    const outcome = await signForResource(given.context, { terms, received }, course)
    const state = outcome.kind === 'signed' ? outcome.state : outcome.earlier.state
    assert.ok(state !== null)
    return state
  }

  function tell({ payment, purchase, answer }: PurchaseState): unknown[] {
    return [payment.status, purchase.delivery, answer?.body]
  }
})
