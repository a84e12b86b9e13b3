import { setTimeout as delay } from 'node:timers/promises'
import { textAt, type Answer } from './http-client.ts'
import { SHOP, type DemoScript } from './demo-script.ts'

/** How long to wait for a confirmation. A block is mined every second. */
const CONFIRMED_MS_MAX = 10_000
const POLL_MS = 200

export interface Granted {
  readonly wallet: string
  readonly grantId: string
}

/**
 * Makes a first payment from an empty workspace: creates an agent and a wallet, signs the grant as the owner, pays, and
 * waits until the transfer is confirmed on the chain.
 */
export async function payAndConfirm(demo: DemoScript): Promise<Granted> {
  const { test, control, step, title, facts } = demo
  const { slug } = facts.workspace
  title('An agent pays within the limits its owner signed')
  await step('Create the agent "shopper".', test.post('/v1/agents', { id: 'shopper' }), {
    status: 201,
    texts: { 'agent.status': 'no_permissions' },
  })
  const made = await step(
    'The owner creates a wallet and funds it with 50 USDC.',
    control.post(`/workspaces/${slug}/wallets`, { mode: 'test', fund_usdc: '50' }),
    { status: 201 },
  )
  const wallet = textAt(made, 'wallet.address')
  const pending = await step(
    'The owner creates a grant: 10 USDC per payment, 15 USDC in 24 hours, to one shop, for one hour. It is not active yet.',
    control.post(`/workspaces/${slug}/grants`, {
      mode: 'test',
      agent_id: 'shopper',
      wallet,
      max_per_tx_usdc: '10',
      daily_cap_usdc: '15',
      recipient_allowlist: [SHOP],
      expires_at: new Date(Date.now() + 60 * 60 * 1_000).toISOString(),
      sign: false,
    }),
    { status: 201, texts: { 'grant.status': 'pending' } },
  )
  const grantId = textAt(pending, 'grant.id')
  const order = { agent_id: 'shopper', wallet, to: SHOP, amount_usdc: '7.25', idempotency_key: 'order-1' }
  await step('Before the signature, the agent cannot pay.', test.post('/v1/payments', order), {
    status: 404,
    code: 'permission_not_found',
  })
  await step(
    'The owner signs with the passkey. The enclave verifies the signature and enforces the grant.',
    control.post(`/grants/${grantId}/sign`, {}),
    {
      status: 200,
      texts: { 'grant.status': 'active' },
    },
  )
  const paid = await step('The agent pays 7.25 USDC.', test.post('/v1/payments', order), {
    status: 201,
    texts: { 'payment.status': 'pending' },
  })
  const id = textAt(paid, 'payment.id')
  await step('The chain confirms the payment.', awaitSettled(demo, id), {
    status: 200,
    texts: { 'payment.status': 'confirmed' },
  })
  await step(
    'The agent sends the same idempotency key again, with another amount. The response is the same payment: there is no second transfer.',
    test.post('/v1/payments', { ...order, amount_usdc: '9' }),
    { status: 201, texts: { 'payment.id': id, 'payment.amount_usdc': '7.25' } },
  )
  return { wallet, grantId }
}

async function awaitSettled({ test }: DemoScript, id: string): Promise<Answer> {
  const deadline = performance.now() + CONFIRMED_MS_MAX
  for (;;) {
    const answer = await test.get(`/v1/payments/${id}`)
    const isSettled = textAt(answer.body, 'payment.status') !== 'pending'
    if (isSettled || performance.now() > deadline) return answer
    await delay(POLL_MS)
  }
}
