import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { Stripe } from 'stripe'
import type { Workspace } from '../../server/src/domain/workspaces/workspace.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { ROTATION_OVERLAP_MS } from '../../server/src/domain/webhooks/endpoint.ts'
import { rotateSecret } from '../../server/src/domain/webhooks/rotate-secret.ts'
import { announce, makeWorkspace } from '../support/context/delivery-rows.ts'
import type { Received } from '../support/wires/receiver.ts'
import { paymentData } from '../support/context/event-data.ts'
import { openSenderFixture, type SenderFixture, type Subscription } from '../support/context/sender-fixture.ts'

const REFUSED = Stripe.errors.StripeSignatureVerificationError
const TEXT = 'é✓ "\\ \u2028 \u{1F980}'

// The verifier in Stripe's package is widely used. It must accept our signatures, because they have the same format
// (D44).
describe("the verifier of Stripe's own package", () => {
  let sending: SenderFixture
  let workspace: Workspace
  let subscription: Subscription
  before(async () => {
    sending = await openSenderFixture()
  })
  beforeEach(async () => {
    workspace = await makeWorkspace(sending.ctx)
    subscription = await sending.subscribe(workspace)
    sending.startSender()
  })
  afterEach(() => sending.reset())
  after(() => sending.close())

  async function receive(): Promise<Received> {
    const { receiver } = subscription
    const count = receiver.received.length
    await announce(sending.ctx, workspace, {
      data: { payment: { z: 1, a: 2, ...paymentData('payment.confirmed', new Date()), memo: TEXT } },
    })
    await receiver.arrived(count + 1)
    const received = receiver.received[count]
    assert.ok(received !== undefined)
    return received
  }

  test('accepts our header, body and secret without changes', async () => {
    const received = await receive()
    const event: unknown = verify(received, subscription.secret)
    assert.deepEqual(event, JSON.parse(String(received.body)))
    assert.equal((event as { id?: unknown }).id, received.eventId)
  })

  test('makes the same header from the same body, secret and time', async () => {
    const received = await receive()
    const payload = String(received.body)
    const made = { payload, secret: subscription.secret, timestamp: timeOf(received) }
    assert.equal(Stripe.webhooks.generateTestHeaderString(made), headerOf(received))
  })

  test('rejects a changed bit anywhere in the body, and a missing or additional byte', async () => {
    const received = await receive()
    const { body } = received
    for (let at = 0; at < body.length; at += 1) {
      const changed = Buffer.from(body)
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
      assert.throws(() => verify({ ...received, body: changed }, subscription.secret), REFUSED, `at ${at}`)
    }
    for (const changed of [Buffer.concat([body, Buffer.from(' ')]), body.subarray(0, -1), body.subarray(1)]) {
      assert.throws(() => verify({ ...received, body: changed }, subscription.secret), REFUSED)
    }
  })

  test('rejects another secret, another time in the header, and a signature that is older than five minutes', async () => {
    const { secret } = subscription
    const received = await receive()
    assert.throws(() => verify(received, `${secret}a`), REFUSED)
    const header = headerOf(received).replace(/^t=\d+/, `t=${timeOf(received) + 1}`)
    assert.throws(() => Stripe.webhooks.constructEvent(received.body, header, secret), REFUSED)
    verify(received, secret, 300)
    assert.throws(() => verify(received, secret, 301), /outside the tolerance/)
  })

  test('accepts the old and the new secret during a rotation, then only the new one', async () => {
    const oldSecret = subscription.secret
    const subject = { workspaceId: workspace.id, id: subscription.endpoint.id }
    const { secret } = await rotateSecret(sending.ctx, { ...subject, actor: OPERATOR })
    const during = await receive()
    verify(during, oldSecret)
    verify(during, secret)
    sending.advance(ROTATION_OVERLAP_MS)
    const afterwards = await receive()
    verify(afterwards, secret)
    assert.throws(() => verify(afterwards, oldSecret), REFUSED)
  })
})

/** Verifies a delivery with Stripe's package, as if `laterSeconds` had passed since it was signed. */
function verify(received: Received, secret: string, laterSeconds?: number): Stripe.Event {
  if (laterSeconds === undefined) return Stripe.webhooks.constructEvent(received.body, headerOf(received), secret)
  const at = (timeOf(received) + laterSeconds) * 1_000
  return Stripe.webhooks.constructEvent(received.body, headerOf(received), secret, 300, undefined, at)
}

function headerOf({ headers }: Received): string {
  return String(headers['service-signature'])
}

function timeOf(received: Received): number {
  return Number(/^t=(\d+),/.exec(headerOf(received))?.[1])
}
