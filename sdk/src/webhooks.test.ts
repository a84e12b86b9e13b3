import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { WebhookSignatureError, webhooks } from './main.ts'

const SECRET = 'whsec_new'
const OLD_SECRET = 'whsec_old'
const SIGNED_AT = 1_790_000_000
const BODY = JSON.stringify({
  id: 'evt_1',
  type: 'payment.confirmed',
  data: { payment: { id: 'pay_1', memo: 'Grüße' } },
})
const OPTIONS = { now: () => SIGNED_AT * 1_000 }

function sign(secret: string, body = BODY): string {
  return createHmac('sha256', secret).update(`${SIGNED_AT}.${body}`).digest('hex')
}

const HEADER = `t=${SIGNED_AT},v1=${sign(SECRET)}`

describe('a webhook', () => {
  test('is verified as text and as bytes, and its event is returned', async () => {
    for (const body of [BODY, Buffer.from(BODY)]) {
      const event = await webhooks.verify(body, HEADER, SECRET, OPTIONS)
      assert.deepEqual(event, JSON.parse(BODY))
    }
  })

  test('is verified by either secret while the secret is being rotated', async () => {
    const both = `t=${SIGNED_AT},v1=${sign(OLD_SECRET)},v1=${sign(SECRET)}`
    for (const secret of [SECRET, OLD_SECRET, ['whsec_other', SECRET]]) {
      assert.equal((await webhooks.verify(BODY, both, secret, OPTIONS)).id, 'evt_1')
    }
  })

  const REJECTED: readonly {
    readonly title: string
    readonly header?: string
    readonly body?: string
    secret?: string
  }[] = [
    { title: 'another body', body: BODY.replace('pay_1', 'pay_2') },
    { title: 'a body that was written again', body: JSON.stringify(JSON.parse(BODY), null, 2) },
    { title: 'another secret', secret: OLD_SECRET },
    { title: 'no header', header: '' },
    { title: 'no time', header: `v1=${sign(SECRET)}` },
    { title: 'two times', header: `t=1,${HEADER}` },
    { title: 'another time', header: HEADER.replace('t=179', 't=178') },
    { title: 'a time that is no number', header: HEADER.replace('t=179', 't=1e9') },
    { title: 'no signature', header: `t=${SIGNED_AT}` },
    { title: 'a signature that is cut', header: HEADER.slice(0, -1) },
    { title: 'a signature of another version', header: HEADER.replace('v1', 'v0') },
    { title: 'very many signatures', header: `${HEADER}${`,v1=${'0'.repeat(64)}`.repeat(4)}` },
  ]
  for (const { title, header = HEADER, body = BODY, secret = SECRET } of REJECTED) {
    test(`with ${title} is rejected`, async () => {
      await assert.rejects(webhooks.verify(body, header, secret, OPTIONS), WebhookSignatureError)
    })
  }

  test('is rejected outside the tolerance, in both directions', async () => {
    const at = (seconds: number, toleranceSeconds?: number) =>
      webhooks.verify(BODY, HEADER, SECRET, {
        now: () => (SIGNED_AT + seconds) * 1_000,
        ...(toleranceSeconds === undefined ? {} : { toleranceSeconds }),
      })
    await at(300)
    await at(-300)
    await at(3_600, 3_600)
    await assert.rejects(at(301), WebhookSignatureError)
    await assert.rejects(at(-301), WebhookSignatureError)
    await assert.rejects(at(11, 10), WebhookSignatureError)
  })
})
