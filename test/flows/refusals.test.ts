import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { call, type WireError } from '../support/http-client.ts'
import {
  makeAddress,
  makeGrant,
  createPayer,
  makeWallet,
  pay,
  type PayerFixture,
  type PayerOptions,
} from '../support/sandbox/payer-fixture.ts'
import { openClockFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'

type Body = Readonly<Record<string, unknown>>

interface Case {
  readonly code: string | undefined
  readonly status: number
  readonly type: string
  readonly payer?: PayerOptions
  readonly prepare?: (fixture: SandboxFixture, payer: PayerFixture) => Promise<unknown>
  readonly payment: (payer: PayerFixture) => Body
  readonly details?: (payer: PayerFixture, fixture: SandboxFixture) => Body | null
}

const ALLOWED = makeAddress()
const CONTRACT = makeAddress()
const HOUR_SECONDS = 60 * 60
const DAY_SECONDS = 24 * HOUR_SECONDS
const DAY_MS = DAY_SECONDS * 1_000

const FORBIDDEN = { status: 403, type: 'forbidden' }
const NOT_FOUND = { status: 404, type: 'not_found' }
const INVALID = { status: 400, type: 'validation_failed' }

/** Every refusal of a payment: the request that causes it, and the response with its details (D18a). */
const CASES: readonly Case[] = [
  { ...INVALID, code: 'amount_invalid', payment: () => ({ amount_usdc: '1.0000001' }) },
  { ...INVALID, code: 'address_invalid', payment: () => ({ to: '0x1234' }) },
  { ...INVALID, code: undefined, payment: () => ({ memo: 'x'.repeat(201) }) },
  { ...NOT_FOUND, code: 'agent_not_found', payment: () => ({ agent_id: 'nobody' }) },
  { ...NOT_FOUND, code: 'wallet_not_found', payment: () => ({ wallet: makeAddress() }) },
  {
    ...NOT_FOUND,
    code: 'permission_not_found',
    prepare: (fixture, { grantId }) => fixture.control(`/grants/${grantId}/revoke`),
    payment: () => ({}),
  },
  {
    ...FORBIDDEN,
    code: 'contract_not_allowed',
    payer: { grant: { contract_allowlist: [CONTRACT] } },
    payment: () => ({}),
    details: (_party, fixture) => ({
      contract_allowlist: [CONTRACT],
      requested: fixture.sandbox.facts.chains.test.usdc,
    }),
  },
  {
    ...FORBIDDEN,
    code: 'recipient_not_allowed',
    payer: { grant: { recipient_allowlist: [ALLOWED] } },
    payment: () => ({}),
    details: ({ recipient }) => ({ recipient_allowlist: [ALLOWED], requested: recipient }),
  },
  {
    ...FORBIDDEN,
    code: 'amount_too_large',
    payment: () => ({ amount_usdc: '10.000001' }),
    details: () => ({ max_per_tx_usdc: '10', requested: '10.000001' }),
  },
  {
    ...FORBIDDEN,
    code: 'insufficient_balance',
    payer: { fundUsdc: '3.5' },
    payment: () => ({ amount_usdc: '3.500001' }),
    details: () => ({ balance_usdc: '3.5', pending_usdc: '0', requested: '3.500001' }),
  },
  {
    ...FORBIDDEN,
    code: 'plan_cap_exceeded',
    payer: { mode: 'live' },
    prepare: (fixture, { slug }) =>
      fixture.control(`/workspaces/${slug}/plan`, { plan: 'developer', allowance_used: 1000 }),
    payment: () => ({}),
  },
]

describe('a rejected payment', () => {
  let fixture: SandboxFixture
  before(async () => {
    fixture = await openClockFixture()
  })

  for (const { code, status, type, payer: options = {}, prepare, payment, details } of CASES) {
    test(`${code ?? 'a bad body'} is ${status} ${type}, gives the reason, and leaves no record`, async () => {
      const payer = await createPayer(fixture, options)
      await prepare?.(fixture, payer)
      const refused = await pay(fixture, payer, payment(payer))
      assert.equal(refused.status, status, refused.text)
      assert.deepEqual([refused.body.error.type, refused.body.error.code], [type, code])
      if (details !== undefined) assert.deepEqual(refused.body.error.details, details(payer, fixture))
      assert.equal(await countRecords(payer), 0)
    })
  }

  test('the error for a body with a wrong shape lists every issue', async () => {
    const payer = await createPayer(fixture)
    const { status, body } = await pay(fixture, payer, { memo: 7, idempotency_key: 'x', agent_id: '' })
    assert.equal(status, 400)
    const issues = body.error.details as unknown as readonly { path: string }[]
    assert.deepEqual(issues.map(({ path }) => path).sort(), ['agent_id', 'memo'])
  })

  test('no key, a key with a typo and a revoked key are 401', async () => {
    const payer = await createPayer(fixture)
    await fixture.control('/keys/revoke', { key: payer.key })
    for (const key of ['', `${payer.key.slice(0, -1)}!`, 'svc_test_nonsense', payer.key]) {
      const { status, body } = await pay(fixture, payer, { key })
      assert.deepEqual([status, body.error.type, body.error.code], [401, 'unauthenticated', undefined])
    }
  })

  test('an expired grant is 403 permission_expired, starting with the second in which it expires', async () => {
    const { now } = (await call(fixture.sandbox.facts.control_url, 'GET', '/')).body
    const expiresAt = new Date(Date.parse(now) + HOUR_SECONDS * 1_000).toISOString()
    const payer = await createPayer(fixture, { grant: { expires_at: expiresAt } })
    assert.equal((await pay(fixture, payer)).status, 201)
    await fixture.advanceClock(HOUR_SECONDS)
    const { status, body } = await pay(fixture, payer)
    assert.deepEqual([status, body.error.code], [403, 'permission_expired'])
    assert.deepEqual(body.error.details, { expires_at: expiresAt })
    const me = await call(fixture.baseUrl, 'GET', `/v1/agents/${payer.agentId}`, { key: payer.key })
    assert.deepEqual([me.body.agent.status, me.body.agent.wallets], ['active', []])
  })

  test('the daily cap can be used exactly, the error says when it is free again, and then it is', async () => {
    const payer = await createPayer(fixture, { dailyCapUsdc: '10' })
    const first = (await pay(fixture, payer, { amount_usdc: '4' })).body.payment
    await fixture.advanceClock(HOUR_SECONDS)
    assert.equal((await pay(fixture, payer, { amount_usdc: '6' })).status, 201, 'a total exactly at the cap is allowed')

    const refused = await pay(fixture, payer, { amount_usdc: '0.000001' })
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'daily_cap_exceeded'])
    assert.deepEqual(refused.body.error.details, {
      daily_cap_usdc: '10',
      spent_24h_usdc: '10',
      remaining_24h_usdc: '0',
      requested: '0.000001',
      resets_at: new Date(Date.parse(first.created_at) + DAY_MS).toISOString(),
    })
    await fixture.advanceClock(DAY_SECONDS - HOUR_SECONDS)
    assert.equal((await pay(fixture, payer, { amount_usdc: '4' })).status, 201)
    assert.equal((await pay(fixture, payer, { amount_usdc: '0.000001' })).body.error.code, 'daily_cap_exceeded')
  })

  test('the error for an amount above the whole cap says that waiting does not help', async () => {
    const payer = await createPayer(fixture, { maxPerTxUsdc: '50', dailyCapUsdc: '10' })
    assert.equal(detailOf((await pay(fixture, payer, { amount_usdc: '11' })).body.error, 'resets_at'), null)
  })

  test("when a plan's allowance is used up, the error says when the next month begins", async () => {
    const payer = await createPayer(fixture, { mode: 'live' })
    await fixture.control(`/workspaces/${payer.slug}/plan`, { plan: 'developer', allowance_used: 1_000 })
    const { error } = (await pay(fixture, payer)).body
    const { allowance, used, resets_at: resetsAt } = error.details ?? {}
    assert.deepEqual([allowance, used], [1_000, 1_000])
    assert.match(String(resetsAt), /^\d{4}-\d\d-01T00:00:00\.000Z$/)
    const free = await createPayer(fixture)
    await fixture.control(`/workspaces/${free.slug}/plan`, { plan: 'developer', allowance_used: 1_000 })
    assert.equal((await pay(fixture, free)).status, 201, 'test mode is not counted')
  })

  test('a wallet of the other mode is not found', async () => {
    const payer = await createPayer(fixture)
    const wallet = await makeWallet(fixture, { slug: payer.slug, mode: 'live', fundUsdc: '5' })
    assert.equal((await pay(fixture, payer, { wallet })).body.error.code, 'wallet_not_found')
    await assert.rejects(makeGrant(fixture, { ...payer, wallet }), /wallet_not_found/)
  })

  test('the 31st payment of a minute is 429, and is accepted after the time that the error names', async () => {
    const payer = await createPayer(fixture)
    for (let index = 0; index < 30; index += 1)
      assert.equal((await pay(fixture, payer, { amount_usdc: 'x' })).status, 400)
    const { status, headers, body } = await pay(fixture, payer)
    assert.deepEqual([status, body.error.type, body.error.code], [429, 'rate_limited', 'rate_limit_exceeded'])
    assert.deepEqual([headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']], ['30', '0'])
    const seconds = Number(headers['retry-after'])
    assert.ok(seconds >= 1 && seconds <= 60)
    assert.match(body.error.message, new RegExp(`\\b${seconds} seconds`))
    await fixture.advanceClock(seconds)
    assert.equal((await pay(fixture, payer)).status, 201)
  })

  async function countRecords({ slug }: PayerFixture): Promise<number> {
    const rows = await fixture.query(
      'select p.id from payments p join workspaces a on a.id = p.workspace_id where a.slug = $1',
      [slug],
    )
    return rows.length
  }
})

function detailOf(error: WireError, name: string): unknown {
  assert.ok(error.details !== undefined && name in error.details)
  return error.details[name]
}
