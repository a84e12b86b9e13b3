import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AddedServer } from '../../sandbox/src/processes/servers.ts'
import { call, type JsonAnswer } from '../support/http-client.ts'
import {
  makeKeys,
  createPayer,
  makeWallet,
  pay,
  payPatiently,
  waitForRecord,
  type PayerFixture,
} from '../support/sandbox/payer-fixture.ts'
import { waitFor } from '../support/wait-for.ts'
import { openClockFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'

const PARALLEL = 50
/** The number of keys. Each key may make 30 payment requests a minute. */
const KEYS = 4
const AGENT_CAP = 100
const HOUR_SECONDS = 60 * 60
const GRACE_SECONDS = 24 * HOUR_SECONDS
/** The fields of a payment that change when the chain confirms it. */
const MAY_CHANGE = { status: undefined, confirmed_at: undefined }

describe('two server processes on one database', () => {
  let fixture: SandboxFixture
  let second: AddedServer
  let bases: readonly [string, string]
  before(async () => {
    fixture = await openClockFixture()
    second = await fixture.sandbox.addServer({ port: 0 })
    bases = [fixture.baseUrl, second.baseUrl]
  })
  after(() => second.stop())

  test('50 parallel payments with one idempotency key make one record, one transfer and 50 equal responses', async () => {
    const payer = await createPayer(fixture)
    const answers = await payInParallel(payer, PARALLEL, { idempotency_key: 'one' })
    assert.deepEqual(countOutcomes(answers), { 201: PARALLEL })
    // The payment can be confirmed while the replays are answered.
    const payments = new Set(answers.map(({ body }) => JSON.stringify({ ...body.payment, ...MAY_CHANGE })))
    assert.equal(payments.size, 1)
    const first = answers.filter(({ headers }) => headers['idempotent-replayed'] !== 'true')
    assert.equal(first.length, 1, 'one of them is the first, all others are replays')
    const { id, tx_hash: txHash } = answers[0]?.body.payment ?? {}
    await waitForRecord(fixture, String(id), 'confirmed')
    const transfers = await fixture.chains.test.listTransfers(payer.wallet)
    assert.deepEqual(
      transfers.map((transfer) => transfer.txHash),
      [txHash],
    )
    assert.deepEqual(await countRecords(payer), { confirmed: 1 })
  })

  test('50 parallel payments against a cap that allows 7 make exactly 7', async () => {
    const payer = await createPayer(fixture, { dailyCapUsdc: '7' })
    const answers = await payInParallel(payer, PARALLEL, {})
    assert.deepEqual(countOutcomes(answers), { 201: 7, daily_cap_exceeded: 43 })
    await checkTransfers(payer, 7)
  })

  test('50 parallel payments against a balance that allows 7 make exactly 7', async () => {
    const payer = await createPayer(fixture, { fundUsdc: '7.999999' })
    const answers = await payInParallel(payer, PARALLEL, {})
    assert.deepEqual(countOutcomes(answers), { 201: 7, insufficient_balance: 43 })
    await checkTransfers(payer, 7)
    assert.equal(await fixture.chains.test.balanceOf(payer.wallet), 999_999n)
  })

  test('50 parallel live payments against an allowance that allows 7 make exactly 7', async () => {
    const payer = await createPayer(fixture, { mode: 'live' })
    await fixture.control(`/workspaces/${payer.slug}/plan`, { plan: 'developer', allowance_used: 993 })
    const answers = await payInParallel(payer, PARALLEL, {})
    assert.deepEqual(countOutcomes(answers), { 201: 7, plan_cap_exceeded: 43 })
    await checkTransfers(payer, 7)
  })

  test('10 parallel new agents if 3 are left make exactly 3, and an existing id is still 201', async () => {
    const payer = await createPayer(fixture)
    const keys = await makeKeys(fixture, payer, KEYS)
    const create = (index: number, id: string): Promise<JsonAnswer> =>
      call(baseOf(index), 'POST', '/v1/agents', { key: keyOf(keys, index), body: { id } })
    // Four agents already exist. One of them is the payer's.
    for (let index = 0; index < AGENT_CAP - 4; index += 1) assert.equal((await create(index, `a${index}`)).status, 201)
    const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => create(index, `late ${index}`)))
    assert.deepEqual(countOutcomes(answers), { 201: 3, agent_cap_reached: 7 })
    assert.equal((await create(0, 'a0')).status, 201)
  })

  test('10 parallel wallets if the plan allows 2 more make exactly 2', async () => {
    const { slug } = await createPayer(fixture)
    const made = await Promise.allSettled(Array.from({ length: 10 }, () => makeWallet(fixture, { slug, mode: 'test' })))
    assert.equal(made.filter(({ status }) => status === 'fulfilled').length, 2)
  })

  test('after a rotation, the old key works in both processes for 24 hours and its responses say until when', async () => {
    const payer = await createPayer(fixture)
    const { key, grace_until: graceUntil } = (await fixture.control('/keys/rotate', { key: payer.key })).body
    for (const base of bases) {
      const old = await call(base, 'GET', '/v1/agents', { key: payer.key })
      assert.deepEqual([old.status, old.headers['service-rotation-grace-until']], [200, graceUntil])
      const fresh = await call(base, 'GET', '/v1/agents', { key: key.secret })
      assert.deepEqual([fresh.status, fresh.headers['service-rotation-grace-until']], [200, undefined])
    }
    const limited = await pay(fixture, payer, { amount_usdc: '11' })
    assert.equal(limited.headers['service-rotation-grace-until'], graceUntil, 'on refusals too')
    await fixture.advanceClock(GRACE_SECONDS)
    for (const base of bases) {
      assert.equal((await call(base, 'GET', '/v1/agents', { key: payer.key })).status, 401)
      assert.equal((await call(base, 'GET', '/v1/agents', { key: key.secret })).status, 200)
    }
  })

  test('a revoked key is rejected by both processes from the next request on', async () => {
    const payer = await createPayer(fixture)
    for (const base of bases) assert.equal((await call(base, 'GET', '/v1/me', { key: payer.key })).status, 200)
    await fixture.control('/keys/revoke', { key: payer.key })
    for (const baseUrl of bases) {
      assert.equal((await call(baseUrl, 'GET', '/v1/me', { key: payer.key })).status, 401)
      assert.equal((await pay(fixture, payer, { baseUrl })).status, 401)
    }
  })

  test('a revoked grant cannot be used in either process', async () => {
    const payer = await createPayer(fixture)
    for (const baseUrl of bases) assert.equal((await pay(fixture, payer, { baseUrl })).status, 201)
    await fixture.control(`/grants/${payer.grantId}/revoke`)
    for (const baseUrl of bases) {
      assert.equal((await pay(fixture, payer, { baseUrl })).body.error.code, 'permission_not_found')
    }
  })

  test('of requests with one key to both processes at once, 60 are accepted, and the 61st is not', async () => {
    const { key } = await createPayer(fixture, { plan: 'pro' })
    // Creating the payer has already used one request of the limit.
    const requests = Array.from({ length: 70 }, (_, index) => call(baseOf(index), 'GET', '/v1/me', { key }))
    assert.deepEqual(countOutcomes(await Promise.all(requests)), { 200: 59, rate_limit_exceeded: 11 })
  })

  async function payInParallel(payer: PayerFixture, count: number, change: object): Promise<JsonAnswer[]> {
    const keys = await makeKeys(fixture, payer, KEYS)
    return await Promise.all(
      Array.from({ length: count }, (_, index) =>
        payPatiently(fixture, payer, { ...change, key: keyOf(keys, index >> 1), baseUrl: baseOf(index) }),
      ),
    )
  }

  function baseOf(index: number): string {
    return bases[index % 2 === 0 ? 0 : 1]
  }

  async function checkTransfers(payer: PayerFixture, count: number): Promise<void> {
    await waitFor('every payment is confirmed', async () => (await countRecords(payer))['confirmed'] === count)
    assert.deepEqual(await countRecords(payer), { confirmed: count })
    assert.equal((await fixture.chains[payer.mode].listTransfers(payer.wallet)).length, count)
  }

  async function countRecords({ wallet }: PayerFixture): Promise<Record<string, number>> {
    const rows = await fixture.query('select status, count(*) from payments where wallet_address = $1 group by 1', [
      wallet,
    ])
    return Object.fromEntries(rows.map((row) => [String(row['status']), Number(row['count'])]))
  }
})

function keyOf(keys: readonly string[], index: number): string {
  const key = keys[index % keys.length]
  if (key === undefined) throw new Error('no keys')
  return key
}

/** Counts the responses by their status, or by their error code if they failed. */
function countOutcomes(answers: readonly JsonAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const outcome = status < 300 ? String(status) : (body.error.code ?? body.error.type)
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  return counts
}
