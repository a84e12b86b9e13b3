import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../audit/audit-entry.ts'
import { seedDeposit } from '../../../../../test/support/context/deposit-rows.ts'
import { frozenAt } from '../../../../../test/support/context/moved-clock.ts'
import { seedPayment } from '../../../../../test/support/context/payment-rows.ts'
import { agent, seed, seedGrant, seedWallet, type Seed } from '../../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../../test/support/context/test-context.ts'
import { createAgent } from '../../agents/create-agent.ts'
import type { Context } from '../../context.ts'
import { markGrantRevoked } from '../../grants/grants-store.ts'
import { createId } from '../../../values/ids.ts'
import { formatLedgerEntry } from './format-ledger-entry.ts'
import { compareNewestFirst, type LedgerEntry } from './ledger-entry.ts'
import { listLedger, type LedgerFilter, type LedgerRequest } from './list-ledger.ts'

const NOW = new Date('2026-06-01T12:00:00.000Z')
/** More pages than any test needs. */
const PAGES_MAX = 50
const NO_FILTER: LedgerFilter = { agentId: null, wallet: null, types: null, createdAfter: null, createdBefore: null }

describe('the ledger', () => {
  let given: TestContext
  let ctx: Context
  /** The first agent, with a grant on the first wallet. */
  let ada: Seed
  /** The second agent, with a grant on the first wallet and on a second one. */
  let bob: Seed
  let bobAtFirst: Seed
  let elsewhere: LedgerEntry
  /** All entries of the ledger, by the names that the tests use for them. */
  const made = new Map<string, LedgerEntry>()

  before(async () => {
    given = await openTestContext()
    ctx = frozenAt(given.context, NOW)
    ada = await seed(ctx)
    const second = agent('bob')
    await createAgent(ctx, { workspaceId: ada.workspace.id, mode: 'test', id: second, actor: OPERATOR })
    const place = { ...ada, agentId: second }
    bobAtFirst = { ...place, grant: await seedGrant(ctx, place) }
    const atSecond = { ...place, wallet: await seedWallet(ctx, ada) }
    bob = { ...atSecond, grant: await seedGrant(ctx, atSecond) }
    // A wallet on which no agent has a grant.
    const idle = { ...ada, wallet: await seedWallet(ctx, ada) }

    // Two payments of the same millisecond, and two deposits of the same millisecond.
    const [lowerId, higherId] = [createId('payment', at(-40)), createId('payment', at(-40))].toSorted()
    assert.ok(lowerId !== undefined && higherId !== undefined)
    const twins = [await seedDeposit(ctx, ada, { at: at(-90) }), await seedDeposit(ctx, ada, { at: at(-90) })]
    const [older, newer] = twins.toSorted(compareNewestFirst).toReversed()
    assert.ok(older !== undefined && newer !== undefined)

    const rows: [name: string, entry: Promise<LedgerEntry> | LedgerEntry][] = [
      ['old deposit', older],
      ['old deposit with a higher id', newer],
      ['ada failed', seedPayment(ctx, ada, { at: at(-80), status: 'failed', failureCode: 'reverted' })],
      ['ada confirmed', seedPayment(ctx, ada, { at: at(-70), status: 'confirmed', memo: 'Lunch', amountUsdc: '1.50' })],
      ['bob second', seedPayment(ctx, bob, { at: at(-60), status: 'confirmed' })],
      ['deposit second', seedDeposit(ctx, bob, { at: at(-50) })],
      ['deposit idle', seedDeposit(ctx, idle, { at: at(-45) })],
      ['ada with a lower id', seedPayment(ctx, ada, { at: at(-40), id: lowerId })],
      ['bob first', seedPayment(ctx, bobAtFirst, { at: at(-40), id: higherId })],
      // The id of this withdrawal is older than the payments above, because it was created when the owner was asked to
      // sign.
      [
        'withdrawal',
        seedPayment(ctx, ada, {
          at: at(-30),
          id: createId('payment', at(-65)),
          kind: 'withdrawal',
          status: 'confirmed',
        }),
      ],
      // At the same millisecond as the withdrawal.
      ['ada at the same time', seedPayment(ctx, ada, { at: at(-30) })],
      ['deposit at the same time', seedDeposit(ctx, ada, { at: at(-30) })],
      ['ada failed again', seedPayment(ctx, ada, { at: at(-20), status: 'failed', failureCode: 'never_received' })],
      ['ada newest', seedPayment(ctx, ada, { at: at(-10), idempotencyKey: 'order 7' })],
    ]
    for (const [name, entry] of rows) made.set(name, await entry)

    const live: Seed = { ...ada, mode: 'live', wallet: await seedWallet(ctx, { ...ada, mode: 'live' }) }
    await createAgent(ctx, { workspaceId: ada.workspace.id, mode: 'live', id: ada.agentId, actor: OPERATOR })
    await seedPayment(ctx, { ...live, grant: await seedGrant(ctx, live) }, { at: at(-5) })
    await seedDeposit(ctx, live, { at: at(-5) })
    const other = await seed(ctx)
    elsewhere = await seedPayment(ctx, other, { at: at(-5) })
    await seedDeposit(ctx, other, { at: at(-5) })
    await seedPayment(ctx, other, { at: at(-5), kind: 'withdrawal', status: 'confirmed' })
  })
  after(() => given.close())

  const everything = [
    ...[
      'ada newest',
      'ada failed again',
      'ada at the same time',
      'withdrawal',
      'deposit at the same time',
      'bob first',
      'ada with a lower id',
    ],
    ...[
      'deposit idle',
      'deposit second',
      'bob second',
      'ada confirmed',
      'ada failed',
      'old deposit with a higher id',
      'old deposit',
    ],
  ]
  const ofAda = everything.filter((name) => name.startsWith('ada'))
  const deposits = everything.filter((name) => name.includes('deposit'))
  const atSecond = ['deposit second', 'bob second']

  const cases: readonly (readonly [name: string, filter: () => Partial<LedgerFilter>, expected: readonly string[]])[] =
    [
      ['without a filter: everything of the workspace and mode, newest first', () => ({}), everything],
      ['of an agent: only its payments', () => ({ agentId: ada.agentId }), ofAda],
      ['of an agent that does not exist', () => ({ agentId: 'nobody' }), []],
      ['of a wallet', () => ({ wallet: bob.wallet }), atSecond],
      ['of an agent and a wallet', () => ({ agentId: bob.agentId, wallet: bob.wallet }), ['bob second']],
      ['of an agent and a wallet, with failed payments', () => ({ agentId: ada.agentId, wallet: ada.wallet }), ofAda],
      ['of an agent and a wallet that it did not use', () => ({ agentId: ada.agentId, wallet: bob.wallet }), []],
      ['payments', () => ({ types: ['payment'] }), everything.filter((name) => /^(ada|bob)/.test(name))],
      ['deposits', () => ({ types: ['deposit'] }), deposits],
      ['deposits of a wallet', () => ({ types: ['deposit'], wallet: bob.wallet }), ['deposit second']],
      ['deposits of an agent: there are none', () => ({ types: ['deposit'], agentId: ada.agentId }), []],
      ['withdrawals', () => ({ types: ['withdrawal'] }), ['withdrawal']],
      ['withdrawals of a wallet', () => ({ types: ['withdrawal'], wallet: bob.wallet }), []],
      [
        'two types',
        () => ({ types: ['deposit', 'withdrawal'] }),
        everything.filter((name) => /deposit|withdrawal/.test(name)),
      ],
      ['from a time on', () => ({ createdAfter: at(-30) }), everything.slice(0, 5)],
      ['before a time', () => ({ createdBefore: at(-30) }), everything.slice(5)],
      ['of a span', () => ({ createdAfter: at(-50), createdBefore: at(-30) }), everything.slice(5, 9)],
      [
        'of a span of one agent and wallet',
        () => ({ ...pair(ada), createdAfter: at(-70), createdBefore: at(-20) }),
        ['ada at the same time', 'ada with a lower id', 'ada confirmed'],
      ],
      ['of a span that is empty', () => ({ createdAfter: at(-30), createdBefore: at(-30) }), []],
      ['before all times', () => ({ createdBefore: new Date('0001-01-01T00:00:00Z') }), []],
      ['after all times', () => ({ createdAfter: new Date('9999-12-31T23:59:59.999Z') }), []],
    ]
  for (const [name, filter, expected] of cases) {
    test(name, async () => {
      const page = await list({ filter: { ...NO_FILTER, ...filter() } })
      assert.deepEqual([namesOf(page.entries), page.hasMore], [expected, false])
    })

    test(`${name}: pages of any size have no gaps and no duplicates`, async () => {
      for (const limit of [1, 2, 5]) {
        const pages = await readPages({ filter: { ...NO_FILTER, ...filter() }, limit })
        assert.deepEqual(pages.flat(), expected)
        assert.ok(pages.slice(0, -1).every(({ length }) => length === limit))
      }
    })
  }

  test('entries that are added while a reader pages are on no later page, and none is missing or repeated', async () => {
    const added: LedgerEntry[] = []
    const pages = await readPages({ filter: NO_FILTER, limit: 2 }, async () => {
      const time = at(-9 + added.length / 1_000)
      added.push(await seedPayment(ctx, ada, { at: time }), await seedDeposit(ctx, ada, { at: time }))
    })
    assert.deepEqual(pages.flat(), everything)
    const newest = await list({ filter: { ...NO_FILTER, createdAfter: at(-9) } })
    assert.equal(newest.entries.length, added.length)
    for (const { id } of added) {
      await given.context.db.write(deleteText(id.startsWith('dep_') ? 'deposits' : 'payments', id))
    }
  })

  describe('for a credential that is bound to an agent', () => {
    const seenByAda = everything.filter((name) => ofAda.includes(name) || /^old deposit|^deposit at/.test(name))
    const bound: readonly (readonly [
      name: string,
      request: () => Partial<LedgerRequest>,
      expected: readonly string[],
    ])[] = [
      ['lists its own payments, and the deposits to its wallets', () => ({}), seenByAda],
      ['its own id as a filter leaves its payments', () => ({ filter: { ...NO_FILTER, agentId: ada.agentId } }), ofAda],
      ['another wallet has nothing of it', () => ({ filter: { ...NO_FILTER, wallet: bob.wallet } }), []],
      ['its wallet', () => ({ filter: { ...NO_FILTER, wallet: ada.wallet } }), seenByAda],
      ['no withdrawals', () => ({ filter: { ...NO_FILTER, types: ['withdrawal'] } }), []],
      [
        'two wallets',
        () => ({ boundAgentId: bob.agentId }),
        everything.filter((name) => /^bob|deposit/.test(name) && name !== 'deposit idle'),
      ],
    ]
    for (const [name, request, expected] of bound) {
      test(name, async () => {
        const asked = { boundAgentId: ada.agentId, filter: NO_FILTER, ...request() }
        assert.deepEqual(namesOf((await list(asked)).entries), expected)
        assert.deepEqual((await readPages({ ...asked, limit: 2 })).flat(), expected)
      })
    }

    test('another agent as a filter is 403 agent_not_authorized', async () => {
      const filter = { ...NO_FILTER, agentId: bob.agentId }
      await assert.rejects(list({ boundAgentId: ada.agentId, filter }), { code: 'agent_not_authorized' })
    })

    test('another agent’s payment, a withdrawal and a deposit to another wallet are no start of a page', async () => {
      for (const name of ['bob first', 'withdrawal', 'deposit second', 'deposit idle']) {
        await refuseStart({ boundAgentId: ada.agentId, startingAfter: idOf(name) })
      }
    })

    test('after its grant was revoked, it no longer sees the wallet’s deposits, and still sees its payments', async () => {
      const given = await seed(ctx)
      const payment = await seedPayment(ctx, given, { at: at(-2) })
      const deposit = await seedDeposit(ctx, given, { at: at(-1) })
      const asked = { workspaceId: given.workspace.id, boundAgentId: given.agentId, filter: NO_FILTER }
      assert.deepEqual(idsOf((await list(asked)).entries), [deposit.id, payment.id])
      await ctx.db.write(markGrantRevoked(given.workspace.id, given.grant.id, NOW))
      assert.deepEqual(idsOf((await list(asked)).entries), [payment.id])
      await refuseStart({ ...asked, startingAfter: deposit.id })
    })
  })

  test('a page can start only after an entry of the same workspace and mode', async () => {
    const unknown = [createId('payment', NOW), createId('deposit', NOW), elsewhere.id, 'pay_', 'x']
    for (const startingAfter of unknown) await refuseStart({ startingAfter })
    const live = await list({ mode: 'live', filter: NO_FILTER })
    assert.equal(live.entries.length, 2)
    for (const { id } of live.entries) await refuseStart({ startingAfter: id })
  })

  test('an entry has all fields of D53, and those that do not apply are null', () => {
    assert.deepEqual(formatted('ada confirmed'), {
      id: idOf('ada confirmed'),
      type: 'payment',
      direction: 'out',
      wallet: ada.wallet,
      from: ada.wallet,
      to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      amount_usdc: '1.50',
      status: 'confirmed',
      failure_code: null,
      tx_hash: formatted('ada confirmed').tx_hash,
      agent_id: ada.agentId,
      grant_id: ada.grant.id,
      memo: 'Lunch',
      idempotency_key: null,
      created_at: '2026-06-01T10:50:00.000Z',
      confirmed_at: '2026-06-01T10:50:02.000Z',
    })
    assert.deepEqual(formatted('old deposit'), {
      id: idOf('old deposit'),
      type: 'deposit',
      direction: 'in',
      wallet: ada.wallet,
      from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      to: ada.wallet,
      amount_usdc: '1.5',
      status: 'confirmed',
      failure_code: null,
      tx_hash: formatted('old deposit').tx_hash,
      agent_id: null,
      grant_id: null,
      memo: null,
      idempotency_key: null,
      created_at: '2026-06-01T10:30:00.000Z',
      confirmed_at: '2026-06-01T10:30:00.000Z',
    })
    const withdrawal = formatted('withdrawal')
    assert.deepEqual([withdrawal.type, withdrawal.agent_id, withdrawal.grant_id], ['withdrawal', null, null])
    const failed = formatted('ada failed')
    assert.deepEqual([failed.status, failed.failure_code, failed.confirmed_at], ['failed', 'reverted', null])
    assert.equal(formatted('ada newest').idempotency_key, 'order 7')
  })

  function list(request: Partial<LedgerRequest> & Pick<LedgerRequest, 'filter'>) {
    const place = {
      workspaceId: ada.workspace.id,
      mode: 'test',
      boundAgentId: null,
      startingAfter: null,
      limit: 50,
    } as const
    return listLedger(ctx, { ...place, ...request })
  }

  async function readPages(
    request: Partial<LedgerRequest> & Pick<LedgerRequest, 'filter' | 'limit'>,
    betweenPages: () => Promise<void> = async () => {},
  ): Promise<string[][]> {
    const pages: string[][] = []
    for (let startingAfter: string | null = null; ;) {
      const { entries, hasMore }: Awaited<ReturnType<typeof list>> = await list({ ...request, startingAfter })
      pages.push(namesOf(entries))
      assert.ok(pages.length <= PAGES_MAX, 'the pages do not end')
      if (!hasMore) return pages
      startingAfter = entries.at(-1)?.id ?? null
      await betweenPages()
    }
  }

  async function refuseStart(request: Partial<LedgerRequest>): Promise<void> {
    const details = [
      { path: 'starting_after', message: '`starting_after` must be the id of an entry that you can list.' },
    ]
    await assert.rejects(list({ filter: NO_FILTER, ...request }), { type: 'validation_failed', details })
  }

  function namesOf(entries: readonly LedgerEntry[]): string[] {
    return entries.map(({ id }) => [...made].find(([, entry]) => entry.id === id)?.[0] ?? id)
  }

  function idOf(name: string): string {
    return made.get(name)?.id ?? assert.fail(name)
  }

  function formatted(name: string) {
    return formatLedgerEntry(made.get(name) ?? assert.fail(name))
  }
})

function idsOf(entries: readonly LedgerEntry[]): string[] {
  return entries.map(({ id }) => id)
}

function pair({ agentId, wallet }: Seed): Pick<LedgerFilter, 'agentId' | 'wallet'> {
  return { agentId, wallet }
}

function deleteText(table: 'payments' | 'deposits', id: string) {
  return { name: '', text: `delete from ${table} where id = $1`, values: [id], read: () => null }
}

function at(minutes: number): Date {
  return new Date(NOW.getTime() + minutes * 60_000)
}
