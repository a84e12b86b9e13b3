import type { Granted } from './pay-and-confirm.ts'
import { textAt } from './http-client.ts'
import { SHOP, STRANGER, type DemoScript } from './demo-script.ts'

const MONTHLY_ALLOWANCE_DEVELOPER = 1_000
const TWO_HOURS_SECONDS = 2 * 60 * 60

/** For each limit, tries one payment that breaks it. Each of these payments is rejected with a different code. */
export async function meetEveryLimit(demo: DemoScript, granted: Granted): Promise<void> {
  demo.title('Each limit rejects a payment with its reason')
  await refuseOutsideGrant(demo, granted)
  await refuseOtherContract(demo)
  await refuseEmptyWallet(demo)
  await refuseOverPlan(demo)
  await refuseUnknown(demo, granted)
  await refuseByEnclave(demo)
  await refuseExpiredAndRevoked(demo, granted)
}

async function refuseOutsideGrant({ test, step }: DemoScript, { wallet }: Granted): Promise<void> {
  const pay = (to: string, amount: string) =>
    test.post('/v1/payments', { agent_id: 'shopper', wallet, to, amount_usdc: amount })
  await step('The amount is above the per-payment limit that the owner signed.', pay(SHOP, '10.000001'), {
    status: 403,
    code: 'amount_too_large',
  })
  await step('The payment would exceed the 24-hour limit: 7.25 USDC are spent, 7.75 USDC remain.', pay(SHOP, '7.76'), {
    status: 403,
    code: 'daily_cap_exceeded',
    texts: { 'error.details.remaining_24h_usdc': '7.75' },
  })
  await step('The grant does not allow the recipient.', pay(STRANGER, '1'), {
    status: 403,
    code: 'recipient_not_allowed',
  })
}

async function refuseOtherContract({ test, control, step, facts }: DemoScript): Promise<void> {
  const { slug, wallets } = facts.workspace
  await test.post('/v1/agents', { id: 'swapper' })
  await step(
    'The owner signs a grant for a contract other than USDC.',
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
    'The agent tries to pay USDC under that grant.',
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
    'The wallet is empty.',
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
  await step('The agent tries to make one more payment.', live.post('/v1/payments', order), {
    status: 403,
    code: 'plan_cap_exceeded',
  })
  await setUsed(0)
}

async function refuseUnknown({ test, step, facts }: DemoScript, { wallet }: Granted): Promise<void> {
  const order = { agent_id: 'shopper', wallet, to: SHOP, amount_usdc: '1' }
  await step('The agent was never created.', test.post('/v1/payments', { ...order, agent_id: 'nobody' }), {
    status: 404,
    code: 'agent_not_found',
  })
  await step(
    'The wallet belongs to the other mode.',
    test.post('/v1/payments', { ...order, wallet: facts.workspace.wallets.live }),
    { status: 404, code: 'wallet_not_found' },
  )
}

async function refuseByEnclave({ test, control, step, facts }: DemoScript): Promise<void> {
  const { agent_id: agentId, wallets } = facts.workspace
  await control.post('/enclave/faults', { fault: 'reject', count: 1 })
  await step(
    'The enclave makes its own checks. A payment that it rejects fails, even though the service allowed it.',
    test.post('/v1/payments', { agent_id: agentId, wallet: wallets.test, to: SHOP, amount_usdc: '1' }),
    { status: 201, texts: { 'payment.status': 'failed' } },
  )
}

async function refuseExpiredAndRevoked(
  { test, control, step }: DemoScript,
  { wallet, grantId }: Granted,
): Promise<void> {
  const order = { agent_id: 'shopper', wallet, to: SHOP, amount_usdc: '1' }
  await step('Two hours pass.', control.post('/clock', { advance_seconds: TWO_HOURS_SECONDS }), { status: 200 })
  await step('The grant was valid for one hour.', test.post('/v1/payments', order), {
    status: 403,
    code: 'permission_expired',
  })
  await step('The owner revokes the grant with the passkey.', control.post(`/grants/${grantId}/revoke`, {}), {
    status: 200,
    texts: { 'grant.status': 'revoked' },
  })
  await step('The agent no longer has an active grant.', test.post('/v1/payments', order), {
    status: 404,
    code: 'permission_not_found',
  })
}
