import { setTimeout as delay } from 'node:timers/promises'
import { textAt, type Answer } from './http-client.ts'
import type { DemoScript } from './demo-script.ts'
import type { Granted } from './pay-and-confirm.ts'

/** How long to wait until the chain shows the purchase. A block is mined every second. */
const CONFIRMED_MS_MAX = 20_000
const POLL_MS = 200

/** An agent buys a resource from the sandbox's seller, and gets it again with the same idempotency key. */
export async function buyResource(
  { test, control, step, title, facts }: DemoScript,
  { wallet }: Pick<Granted, 'wallet'>,
): Promise<void> {
  const { slug } = facts.workspace
  title('An agent buys a web resource')
  await step('Create the agent "reader".', test.post('/v1/agents', { id: 'reader' }), { status: 201 })
  const terms = { mode: 'test', agent_id: 'reader', wallet, max_per_tx_usdc: '1', daily_cap_usdc: '2', x402: true }
  await step('The owner signs a grant that allows purchases.', control.post(`/workspaces/${slug}/grants`, terms), {
    status: 201,
    texts: { 'grant.status': 'active' },
  })
  const resource = { url: `${facts.seller_url}/weather`, agent_id: 'reader', wallet }
  await step('The agent asks what the weather costs.', test.post('/v1/x402/check', resource), { status: 200 })
  const order = { ...resource, max_amount_usdc: '0.05', idempotency_key: 'weather-1' }
  const bought = await step('The agent buys it. The seller delivers.', test.post('/v1/x402/pay', order), {
    status: 200,
    texts: { delivery: 'delivered' },
  })
  await step(
    'The agent lost the answer, and sends the same request again. It gets the answer, and pays nothing.',
    test.post('/v1/x402/pay', order),
    { status: 200, texts: { 'payment.id': textAt(bought, 'payment.id'), delivery: 'delivered' } },
  )
  const path = `/v1/payments/${textAt(bought, 'payment.id')}`
  await step(
    'The chain shows that the seller has taken the money.',
    awaitConfirmed(() => test.get(path)),
    {
      status: 200,
      texts: { 'payment.status': 'confirmed' },
    },
  )
}

async function awaitConfirmed(read: () => Promise<Answer>): Promise<Answer> {
  const deadline = Date.now() + CONFIRMED_MS_MAX
  for (;;) {
    const answer = await read()
    if (textAt(answer.body, 'payment.status') !== 'pending' || Date.now() > deadline) return answer
    await delay(POLL_MS)
  }
}
