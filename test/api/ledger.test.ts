import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { createAgent } from '../../server/src/domain/agents/create-agent.ts'
import { seedTokens } from '../support/context/connection-rows.ts'
import { seedDeposit } from '../support/context/deposit-rows.ts'
import { seedPayment } from '../support/context/payment-rows.ts'
import { agent, seed, seedGrant, seedWallet, type Seed } from '../support/context/seed.ts'
import { expectError, readBody, readError } from '../support/http-client.ts'
import { openTestService, paymentBody, type TestService } from '../support/service/test-service.ts'
import { ANY_CHARACTER } from '../support/any-character.ts'

const INVALID = { type: 'validation_failed' } as const
const FUZZ_RUNS = 100
/** Fewer requests than the rate limit of one key. */
const REQUESTS_PER_KEY = 50

interface Page {
  readonly entries: readonly { readonly id: string; readonly type: string }[]
  readonly has_more: boolean
}

interface WalletsPage {
  readonly wallets: readonly { readonly address: string; readonly grants: readonly { readonly agent_id: string }[] }[]
  readonly has_more: boolean
}

describe('the ledger and wallets over HTTP', () => {
  let given: TestService
  let seeded: Seed
  let other: Seed
  let token: string
  before(async () => {
    given = await openTestService()
    const ctx = given.context
    seeded = await seed(ctx)
    const place = { ...seeded, agentId: agent('other'), wallet: await seedWallet(ctx, seeded) }
    await createAgent(ctx, { workspaceId: seeded.workspace.id, mode: 'test', id: place.agentId, actor: OPERATOR })
    other = { ...place, grant: await seedGrant(ctx, place) }
    const { workspace, mode, agentId } = seeded
    token = (await seedTokens(ctx, { workspace, mode, agentId })).tokens.accessToken
    await seed(ctx)
  })
  after(() => given.close())

  test('a payment that was just made is the newest entry, with the fields of D53', async () => {
    const body = paymentBody(seeded, { memo: 'Lunch', amount_usdc: '1.50', idempotency_key: 'order 7' })
    const paid = await given.call({ path: '/v1/payments', key: seeded.key, body })
    const { payment } = readBody<{ payment: Record<string, unknown> }>(paid, 201)
    const page = readBody<Page>(await given.call({ path: '/v1/ledger', key: seeded.key }), 200)
    assert.deepEqual(page, {
      entries: [
        {
          id: payment['id'],
          type: 'payment',
          direction: 'out',
          wallet: seeded.wallet,
          from: seeded.wallet,
          to: payment['to'],
          amount_usdc: '1.50',
          status: 'pending',
          failure_code: null,
          tx_hash: payment['tx_hash'],
          agent_id: seeded.agentId,
          grant_id: seeded.grant.id,
          memo: 'Lunch',
          idempotency_key: 'order 7',
          created_at: payment['created_at'],
          confirmed_at: null,
        },
      ],
      has_more: false,
    })
  })

  test('an API key pages through everything, and a token through the entries of its agent', async () => {
    const ctx = given.context
    const [deposit, payment, theirs, withdrawal] = [
      await seedDeposit(ctx, seeded),
      await seedPayment(ctx, seeded),
      await seedPayment(ctx, other),
      await seedPayment(ctx, seeded, { kind: 'withdrawal', status: 'confirmed' }),
    ]
    await seedDeposit(ctx, other)
    const all = await readAll(seeded.key, 2)
    const own = await readAll(token, 1)
    assert.ok([deposit, payment, theirs, withdrawal].every(({ id }) => all.includes(id)))
    assert.equal(new Set(all).size, all.length)
    assert.deepEqual(
      [deposit, payment, theirs, withdrawal].map(({ id }) => own.includes(id)),
      [true, true, false, false],
    )
    const path = `/v1/ledger?agent_id=${other.agentId}`
    expectError(await given.call({ path, key: token }), { type: 'forbidden', code: 'agent_not_authorized' })
    const found = readBody<Page>(await given.call({ path, key: seeded.key }), 200)
    assert.deepEqual(
      found.entries.map(({ id }) => id),
      [theirs.id],
    )
    const typed = await given.call({ path: '/v1/ledger?type=deposit,withdrawal', key: seeded.key })
    assert.deepEqual(
      new Set(readBody<Page>(typed, 200).entries.map(({ type }) => type)),
      new Set(['deposit', 'withdrawal']),
    )
  })

  const bad: readonly (readonly [string, readonly string[]])[] = [
    ['limit', ['', '0', '101', '1.5', 'all']],
    ['starting_after', ['', 'x', 'pay_', 'evt_01J00000000000000000000000', 'pay_01J00000000000000000000000', '%00']],
    ['agent_id', ['', '%20', '..', 'a'.repeat(65), '%00']],
    ['wallet', ['', '0x12', 'x', '0x70997970c51812dc3A010C7d01b50e0d17dc79C8']],
    ['type', ['', 'payments', 'payment,', 'deposit,refund', 'Payment']],
    ['created_after', ['', 'yesterday', '2026-01-01', '2026-01-01T00:00:00']],
    ['created_before', ['', '1767225600', '2026-13-01T00:00:00Z']],
  ]
  for (const [name, values] of bad) {
    test(`an invalid ${name} is 400, and is named in the error`, async () => {
      const key = await given.issueKey(seeded)
      for (const query of [...values.map((value) => `${name}=${value}`), `${name}=a&${name}=a`]) {
        const { details, message } = expectError(await given.call({ path: `/v1/ledger?${query}`, key }), INVALID)
        assert.deepEqual(pathsOf(details), [name], query)
        assert.ok(message.startsWith(`\`${name}\` must be `), message)
      }
    })
  }

  test('the error names every invalid parameter, and every unknown one', async () => {
    const path = '/v1/ledger?limit=0&type=x&wallet=y&agent_id=&created_after=z&created_before=&starting_after=q&page=2'
    const { details } = expectError(await given.call({ path, key: seeded.key }), INVALID)
    const names = ['agent_id', 'created_after', 'created_before', 'limit', 'page', 'starting_after', 'type', 'wallet']
    assert.deepEqual(pathsOf(details).toSorted(), names)
    for (const [path, name] of [
      ['/v1/ledger?status=pending', 'status'],
      ['/v1/ledger?__proto__[limit]=0', '__proto__[limit]'],
      ['/v1/wallets?agent_id=a', 'agent_id'],
    ] as const) {
      const unknown = expectError(await given.call({ path, key: seeded.key }), INVALID)
      assert.deepEqual(pathsOf(unknown.details), [name])
      assert.equal(unknown.message, `\`${name}\` is not a parameter of this endpoint.`)
    }
  })

  test('an API key lists all wallets, and a token those of its agent', async () => {
    const read = async (path: string, key: string) => readBody<WalletsPage>(await given.call({ path, key }), 200)
    const all = await read('/v1/wallets', seeded.key)
    assert.deepEqual(
      all.wallets.map(({ address }) => address),
      [seeded.wallet, other.wallet].toSorted(),
    )
    const [first] = all.wallets
    const page = await read('/v1/wallets?limit=1', seeded.key)
    assert.deepEqual([page.wallets, page.has_more], [[first], true])
    const rest = await read(`/v1/wallets?limit=1&starting_after=${first?.address}`, seeded.key)
    assert.deepEqual([rest.wallets, rest.has_more], [all.wallets.slice(1), false])
    const own = await read('/v1/wallets', token)
    assert.deepEqual(
      own.wallets.map(({ address, grants }) => [address, grants.map(({ agent_id: id }) => id)]),
      [[seeded.wallet, [seeded.agentId]]],
    )
  })

  test('a wallet is read by its address in any case, and another agent’s wallet is 404 for a token', async () => {
    const lower = await given.call({ path: `/v1/wallets/${seeded.wallet.toLowerCase()}`, key: token })
    const { wallet } = readBody<{ wallet: Record<string, unknown> }>(lower, 200)
    assert.deepEqual(Object.keys(wallet), ['address', 'name', 'mode', 'balance_usdc', 'grants'])
    assert.equal(wallet['address'], seeded.wallet)
    assert.equal((await given.call({ path: `/v1/wallets/${other.wallet}`, key: seeded.key })).status, 200)
    const missing = { type: 'not_found', code: 'wallet_not_found' } as const
    expectError(await given.call({ path: `/v1/wallets/${other.wallet}`, key: token }), missing)
    for (const address of ['main', '%00', `${seeded.wallet}0`]) {
      const answer = await given.call({ path: `/v1/wallets/${address}`, key: token })
      expectError(answer, { type: 'validation_failed', code: 'address_invalid' })
    }
    const stranger = await seed(given.context)
    for (const path of [`/v1/wallets/${seeded.wallet}`, `/v1/wallets/${other.wallet}`]) {
      expectError(await given.call({ path, key: stranger.key }), missing)
    }
  })

  test('an invalid page of wallets is 400 and names the parameter', async () => {
    for (const [name, value] of [
      ['limit', '101'],
      ['limit', '0'],
      ['starting_after', 'x'],
      ['starting_after', ''],
    ]) {
      const answer = await given.call({ path: `/v1/wallets?${name}=${value}`, key: seeded.key })
      assert.deepEqual(pathsOf(expectError(answer, INVALID).details), [name])
    }
  })

  test('any query gets 200 or a well-formed 400', async () => {
    const names = ['limit', 'starting_after', 'agent_id', 'wallet', 'type', 'created_after', 'created_before']
    const value = fc.oneof(
      fc.string({ unit: ANY_CHARACTER, maxLength: 60 }).filter((text) => text.isWellFormed()),
      fc.constantFrom('1', '100', 'payment', 'deposit', seeded.wallet, seeded.agentId, '0001-01-01T00:00:00Z'),
      fc.constantFrom('0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '2026-01-01T00:00:00-23:59'),
    )
    const query = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 4 })
    const path = fc.constantFrom('/v1/ledger', '/v1/wallets')
    let key = ''
    let requests = 0
    await fc.assert(
      fc.asyncProperty(path, query, async (route, parameters) => {
        if (requests % REQUESTS_PER_KEY === 0) key = await given.issueKey(seeded)
        requests += 1
        const text = parameters.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')
        const answer = await given.call({ path: `${route}?${text}`, key })
        if (answer.status !== 200) assert.equal(readError(answer).type, 'validation_failed', answer.text)
      }),
      { numRuns: FUZZ_RUNS },
    )
  })

  async function readAll(key: string, limit: number): Promise<string[]> {
    const ids: string[] = []
    for (let after = ''; ; after = `&starting_after=${ids.at(-1)}`) {
      const answer = await given.call({ path: `/v1/ledger?limit=${limit}${after}`, key })
      const { entries, has_more: hasMore } = readBody<Page>(answer, 200)
      ids.push(...entries.map(({ id }) => id))
      if (!hasMore) return ids
    }
  }
})

function pathsOf(details: unknown): string[] {
  return (details as { path: string }[]).map(({ path }) => path)
}
