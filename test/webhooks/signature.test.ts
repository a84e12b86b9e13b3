import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import type { Workspace } from '../../server/src/domain/workspaces/workspace.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import type { Context } from '../../server/src/domain/context.ts'
import { RETRY_DELAYS_MS } from '../../server/src/domain/webhooks/retry-schedule.ts'
import { ROTATION_OVERLAP_MS } from '../../server/src/domain/webhooks/endpoint.ts'
import { rotateSecret } from '../../server/src/domain/webhooks/rotate-secret.ts'
import { paymentData } from '../support/context/event-data.ts'
import { announce, makeWorkspace } from '../support/context/delivery-rows.ts'
import type { Received } from '../support/wires/receiver.ts'
import {
  deliverOne,
  openSenderFixture,
  type SenderFixture,
  type Subscription,
} from '../support/context/sender-fixture.ts'

/** Values that would change if they were stored as jsonb or serialized a second time. */
const AWKWARD = {
  payment: {
    z: 1,
    a: 2,
    ...paymentData('payment.confirmed', new Date()),
    memo: 'é✓ \u{1F980} "\\/ \u2028\u0007 </script>',
    amount_usdc: '123456789012345678.100000',
    tiny: 1e-7,
    big: 1e21,
    ten: { '10': 'x', '9': 'y' },
    nothing: null,
    list: [[], {}, ''],
  },
}

describe('the request of a delivery', () => {
  let sending: SenderFixture
  let ctx: Context
  let workspace: Workspace
  let subscription: Subscription
  before(async () => {
    sending = await openSenderFixture()
    ctx = sending.ctx
  })
  beforeEach(async () => {
    workspace = await makeWorkspace(ctx)
    subscription = await sending.subscribe(workspace)
    sending.startSender()
  })
  afterEach(() => sending.reset())
  after(() => sending.close())

  test('has our headers, with the right length, and no others', async () => {
    const { event } = await deliverOne(sending, workspace, subscription)
    const { receiver, secret } = subscription
    const [received] = receiver.received
    assert.ok(received !== undefined)
    const { headers, rawHeaders, body, path } = received
    assert.equal(path, '/hooks')
    assert.deepEqual(
      rawHeaders.filter((_, index) => index % 2 === 0),
      [
        'Content-Type',
        'user-agent',
        'Service-Signature',
        'Service-Event-Id',
        'Service-Event-Type',
        'Service-Delivery-Attempt',
        'content-length',
        'Host',
        'Connection',
      ],
    )
    assert.equal(headers['content-type'], 'application/json')
    assert.equal(headers['user-agent'], `Bursar-Webhooks/1 Bursar/1 (+${ctx.outbound.contact})`)
    assert.equal(headers['service-event-id'], event.id)
    assert.equal(headers['service-event-type'], 'payment.confirmed')
    assert.equal(headers['service-delivery-attempt'], '1')
    assert.equal(headers['content-length'], String(body.length))
    assert.equal(headers['host'], new URL(receiver.url).host)
    assertSignedBy(received, [secret])
  })

  test('has the signed bytes as its body, the same in each attempt, whatever they contain', async () => {
    const { receiver, endpoint, secret } = subscription
    receiver.reply(500)
    const event = await announce(ctx, workspace, { data: AWKWARD })
    for (const [index, delayMs] of RETRY_DELAYS_MS.entries()) {
      await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts === index + 1)
      sending.advance(delayMs)
    }
    await receiver.arrived(6)
    const [first] = receiver.received
    const createdAt = event.createdAt.toISOString()
    const head = { id: event.id, type: event.type, created_at: createdAt, mode: 'test', account_slug: workspace.slug }
    assert.equal(String(first?.body), JSON.stringify({ ...head, data: AWKWARD }))
    for (const received of receiver.received) {
      assert.deepEqual(received.body, first?.body)
      assertSignedBy(received, [secret])
    }
  })

  test('has a time and a signature for each attempt, within seconds of now, and the same event id', async () => {
    const { receiver, endpoint } = subscription
    receiver.reply(500)
    const event = await announce(ctx, workspace)
    const signatures = new Set<string>()
    for (const [index, delayMs] of [...RETRY_DELAYS_MS, 0].entries()) {
      const { attempts } = await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts === index + 1)
      const received = receiver.received[index]
      assert.ok(received !== undefined)
      signatures.add(signatureOf(received).hex.join())
      assert.equal(signatureOf(received).seconds, Math.floor(Number(attempts[index]?.startedAt) / 1_000))
      assert.equal(received.eventId, event.id)
      assert.equal(received.attempt, index + 1)
      sending.advance(delayMs)
    }
    assert.equal(signatures.size, 6)
  })

  test('has two signatures during a rotation, and then one, even if it was due before', async () => {
    const { receiver, endpoint, secret: oldSecret } = subscription
    receiver.reply(500)
    const event = await announce(ctx, workspace)
    await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts === 1)
    const { secret: newSecret } = await rotateSecret(ctx, {
      workspaceId: workspace.id,
      id: endpoint.id,
      actor: OPERATOR,
    })
    sending.advance(RETRY_DELAYS_MS[0])
    await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts === 2)
    sending.advance(ROTATION_OVERLAP_MS)
    await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts === 3)
    const [alone, both, afterwards] = receiver.received
    assertSignedBy(alone, [oldSecret])
    assertSignedBy(both, [newSecret, oldSecret])
    assertSignedBy(afterwards, [newSecret])
    assert.notEqual(newSecret, oldSecret)
  })
})

/** Checks that the delivery has signatures with exactly these secrets, in this order. */
function assertSignedBy(received: Received | undefined, secrets: readonly string[]): void {
  assert.ok(received !== undefined)
  const { seconds, hex } = signatureOf(received)
  const signed = Buffer.concat([Buffer.from(`${seconds}.`), received.body])
  assert.deepEqual(
    hex,
    secrets.map((secret) => createHmac('sha256', secret).update(signed).digest('hex')),
  )
}

function signatureOf({ headers }: Received): { seconds: number; hex: string[] } {
  const [time = '', ...rest] = String(headers['service-signature']).split(',')
  assert.match(time, /^t=\d{10}$/)
  for (const part of rest) assert.match(part, /^v1=[0-9a-f]{64}$/)
  return { seconds: Number(time.slice(2)), hex: rest.map((part) => part.slice(3)) }
}
