import type { Granted } from './pay-and-confirm.ts'
import { textAt } from './http-client.ts'
import { SHOP, STRANGER, type DemoScript } from './demo-script.ts'

const MONTHLY_ALLOWANCE_DEVELOPER = 1_000
const TWO_HOURS_SECONDS = 2 * 60 * 60

/** One refusal for each limit, each with its own code. */
export async function meetEveryLimit(story: DemoScript, granted: Granted): Promise<void> {
  story.title('Every limit refuses with a reason')
  await refuseOutsideGrant(story, granted)
  await refuseOtherContract(story)
  await refuseEmptyWallet(story)
  await refuseOverPlan(story)
  await refuseUnknown(story, granted)
  await refuseByEnclave(story)
  await refuseExpiredAndRevoked(story, granted)
}

async function refuseOutsideGrant({ test, step }: DemoScript, { wallet }: Granted): Promise<void> {
  const pay = (to: string, amount: string) =>
    test.post('/v1/payments', { agent_id: 'shopper', wallet, to, amount_usdc: amount })
  await step('More at a time than the owner signed.', pay(SHOP, '10.000001'), { status: 403, code: 'amount_too_large' })
  await step('More in a day than the owner signed: 7.25 are spent, 7.75 are left.', pay(SHOP, '7.76'), {
    status: 403,
    code: 'daily_cap_exceeded',
    texts: { 'error.details.remaining_24h_usdc': '7.75' },
  })
  await step('To somebody else than the shop.', pay(STRANGER, '1'), { status: 403, code: 'recipient_not_allowed' })
}

async function refuseOtherContract({ test, control, step, facts }: DemoScript): Promise<void> {
  const { slug, wallets } = facts.workspace
  await test.post('/v1/agents', { id: 'swapper' })
  await step(
    'The owner signs a grant for another contract than USDC.',
    control.post(`/workspaces/${slug}/grants`, {
      mode: 'test',
      agent_id: 'swapper',
      wallet: wallets.test,
      max_per_tx_usdc: '10',
      daily_cap_usdc: '10',
      contract_allowlist: [STRANGER],
    }),
    { status: 201, texts: { 'grant.status': 'active' } },
  )
  await step(
    'A USDC transfer under it.',
    test.post('/v1/payments', { agent_id: 'swapper', wallet: wallets.test, to: SHOP, amount_usdc: '1' }),
    { status: 403, code: 'contract_not_allowed' },
  )
}

async function refuseEmptyWallet({ test, control, step, facts }: DemoScript): Promise<void> {
  const { slug, agent_id: agentId } = facts.workspace
  const made = await control.post(`/workspaces/${slug}/wallets`, { mode: 'test' })
  const wallet = textAt(made.body, 'wallet.address')
  const grant = { mode: 'test', agent_id: agentId, wallet, max_per_tx_usdc: '10', daily_cap_usdc: '10' }
  await control.post(`/workspaces/${slug}/grants`, grant)
  await step(
    'From a wallet that holds nothing.',
    test.post('/v1/payments', { agent_id: agentId, wallet, to: SHOP, amount_usdc: '1' }),
    { status: 403, code: 'insufficient_balance' },
  )
}

async function refuseOverPlan({ live, control, step, facts }: DemoScript): Promise<void> {
  const { slug, agent_id: agentId, wallets } = facts.workspace
  const order = { agent_id: agentId, wallet: wallets.live, to: SHOP, amount_usdc: '1' }
  const setUsed = (used: number) =>
    control.post(`/workspaces/${slug}/plan`, { plan: 'developer', allowance_used: used })
  await setUsed(MONTHLY_ALLOWANCE_DEVELOPER - 1)
  await step("In live mode, the last payment of this month's allowance.", live.post('/v1/payments', order), {
    status: 201,
    texts: { 'payment.status': 'pending' },
  })
  await step('And one more.', live.post('/v1/payments', order), { status: 403, code: 'plan_cap_exceeded' })
  await setUsed(0)
}

async function refuseUnknown({ test, step, facts }: DemoScript, { wallet }: Granted): Promise<void> {
  const order = { agent_id: 'shopper', wallet, to: SHOP, amount_usdc: '1' }
  await step('An agent that nobody registered.', test.post('/v1/payments', { ...order, agent_id: 'nobody' }), {
    status: 404,
    code: 'agent_not_found',
  })
  await step(
    'A wallet of the other mode.',
    test.post('/v1/payments', { ...order, wallet: facts.workspace.wallets.live }),
    { status: 404, code: 'wallet_not_found' },
  )
}

async function refuseByEnclave({ test, control, step, facts }: DemoScript): Promise<void> {
  const { agent_id: agentId, wallets } = facts.workspace
  await control.post('/enclave/faults', { fault: 'reject', count: 1 })
  await step(
    'The enclave decides for itself: what it refuses is a failed payment, though the service had allowed it.',
    test.post('/v1/payments', { agent_id: agentId, wallet: wallets.test, to: SHOP, amount_usdc: '1' }),
    { status: 201, texts: { 'payment.status': 'failed' } },
  )
}

async function refuseExpiredAndRevoked({ test, control, step }: DemoScript, { wallet, grantId }: Granted): Promise<void> {
  const order = { agent_id: 'shopper', wallet, to: SHOP, amount_usdc: '1' }
  await step('Two hours go by.', control.post('/clock', { advance_seconds: TWO_HOURS_SECONDS }), { status: 200 })
  await step('The grant was for one.', test.post('/v1/payments', order), { status: 403, code: 'permission_expired' })
  await step('The owner revokes it, with the passkey.', control.post(`/grants/${grantId}/revoke`, {}), {
    status: 200,
    texts: { 'grant.status': 'revoked' },
  })
  await step('Nothing is left of it.', test.post('/v1/payments', order), { status: 404, code: 'permission_not_found' })
}
