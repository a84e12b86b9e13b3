import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseAddress } from '../../../values/address.ts'
import type { ActiveGrant, WalletFunds } from '../funds/funds.ts'
import { addUpFunds } from '../funds/funds.ts'
import { checkConditions, ITEMS_SHOWN_MAX, type ConditionName, type Facts } from './conditions.ts'

const NOW = new Date('2026-06-01T12:00:00Z')
const HOUR_MS = 60 * 60_000
const ADDRESS = parseAddress(`0x${'1'.repeat(40)}`) ?? assert.fail()
const USDC = 1_000_000n
const from = (hours: number): Date => new Date(NOW.getTime() + hours * HOUR_MS)

const WALLET: WalletFunds = {
  ...{ address: ADDRESS, name: 'Treasury', readAt: NOW, heldMicro: 0n, owners: 2, overdue: 0 },
  ...{ balanceMicro: 100n * USDC, availableMicro: 100n * USDC, limitsLeftMicro: 50n * USDC, canSpendMicro: 50n * USDC },
  spent24hMicro: 10n * USDC,
}
const GRANT: ActiveGrant = {
  ...{ id: 'grt_1', agentId: 'buyer', wallet: ADDRESS, suspendedAt: null, expiresAt: null, differsSince: null },
  ...{ dailyCapMicro: 60n * USDC, spent24hMicro: 10n * USDC },
}
const ENDPOINT = { id: 'whk_1', url: 'https://a.example', failingSince: null, disabledAt: null, disabledBecause: null }
const QUIET: Facts = {
  ...{ now: NOW, mode: 'live', wallets: [WALLET], grants: [GRANT], unsigned: [], endpoints: [ENDPOINT], refusals: [] },
  undelivered: { count: 0, since: NOW },
}
const UNSIGNED = { id: 'grt_2', agentId: 'buyer', wallet: ADDRESS, walletName: 'Treasury', isMine: false }

test('a workspace in which all is well meets no condition', () => {
  assert.deepEqual(checkConditions(QUIET), [])
})

describe('a condition', () => {
  const low = (availableMicro: bigint | null, changes: Partial<WalletFunds> = {}): Partial<Facts> => ({
    wallets: [{ ...WALLET, availableMicro, ...changes }],
  })
  const grant = (changes: Partial<ActiveGrant>): Partial<Facts> => ({ grants: [{ ...GRANT, ...changes }] })
  const endpoint = (changes: Partial<Facts['endpoints'][number]>): Partial<Facts> => ({
    endpoints: [{ ...ENDPOINT, ...changes }],
  })
  const cases: readonly (readonly [string, Partial<Facts>, readonly ConditionName[]])[] = [
    ['a balance that covers the limits', low(50n * USDC), []],
    ['a balance below the limits', low(50n * USDC - 1n), ['balance_below_limits']],
    ['a balance below what was spent in a day', low(10n * USDC - 1n), ['balance_used_up']],
    ['an empty wallet with limits', low(0n, { spent24hMicro: 0n }), ['balance_used_up']],
    ['an empty wallet that nobody may spend from', low(0n, { spent24hMicro: 0n, limitsLeftMicro: 0n }), []],
    ['a balance that is not known', low(null), []],
    ['a payment that is pending for too long', low(100n * USDC, { overdue: 1 }), ['payment_overdue']],
    ['a purchase that was not delivered', { undelivered: { count: 2, since: NOW } }, ['purchase_undelivered']],
    [
      'repeated refusals',
      { refusals: [{ agentId: 'buyer', code: 'daily_cap_exceeded', times: 3 }] },
      ['refusals_repeat'],
    ],
    ['an endpoint that fails since half an hour', endpoint({ failingSince: from(-0.5) }), ['webhook_failing']],
    ['an endpoint that has just failed', endpoint({ failingSince: from(-0.49) }), []],
    [
      'an endpoint that was disabled for failing',
      endpoint({ disabledAt: NOW, disabledBecause: 'failing' }),
      ['webhook_failing'],
    ],
    [
      'an endpoint that a member disabled',
      endpoint({ failingSince: from(-9), disabledAt: NOW, disabledBecause: 'owner' }),
      [],
    ],
    ['a grant that ends in seven days', grant({ expiresAt: from(7 * 24) }), ['grant_ending']],
    ['a grant that ends later', grant({ expiresAt: from(7 * 24 + 1) }), []],
    ['a grant that has ended', grant({ expiresAt: from(-1) }), ['grant_ending']],
    ['a grant that ended long ago', grant({ expiresAt: from(-7 * 24) }), []],
    ['a suspended grant that ends', grant({ expiresAt: from(1), suspendedAt: NOW }), []],
    ['a grant whose terms differ from those of the enclave', grant({ differsSince: from(-1) }), ['grant_altered']],
    ['a grant that waits for a signature', { unsigned: [UNSIGNED] }, ['grant_unsigned']],
    ['a wallet with one owner', low(100n * USDC, { owners: 1 }), ['wallet_at_risk']],
    ['a wallet with one owner in test mode', { ...low(100n * USDC, { owners: 1 }), mode: 'test' }, []],
  ]
  for (const [name, facts, expected] of cases) {
    test(`${expected.length === 0 ? 'is not met by' : 'is met by'} ${name}`, () => {
      assert.deepEqual(
        checkConditions({ ...QUIET, ...facts }).map((condition) => condition.name),
        expected,
      )
    })
  }
})

test('a condition says what it is about, with numbers, and where it leads', () => {
  const facts = { ...QUIET, wallets: [{ ...WALLET, availableMicro: 500_000n, limitsLeftMicro: 400_500_000n }] }
  const [condition] = checkConditions(facts)
  assert.deepEqual(condition?.items, [
    {
      name: 'Treasury',
      text: '0.50 USDC available, 10.00 USDC spent in the last 24 hours',
      at: null,
      page: ['wallets', ADDRESS],
      filter: {},
    },
  ])
})

test('requests that are rejected again and again lead to their list', () => {
  const [condition] = checkConditions({
    ...QUIET,
    refusals: [{ agentId: 'buyer', code: 'daily_cap_exceeded', times: 3 }],
  })
  const [item] = condition?.items ?? []
  assert.deepEqual(item?.page, ['payments'])
  assert.deepEqual(item?.filter, { status: 'refused', agent: 'buyer', reason: 'daily_cap_exceeded' })
})

test('a condition names a few things and counts the others, and what waits for the reader comes first', () => {
  const unsigned = Array.from({ length: 5 }, (_, index) => ({ ...UNSIGNED, id: `grt_${index}`, isMine: index === 4 }))
  const [condition] = checkConditions({ ...QUIET, unsigned })
  assert.deepEqual([condition?.items.length, condition?.more], [ITEMS_SHOWN_MAX, 2])
  assert.deepEqual(condition?.items[0]?.page, ['grants', 'grt_4'])
})

describe('what agents can still spend', () => {
  const { address, name, readAt, owners, overdue } = WALLET
  const wallet = { address, name, readAt, owners, overdue, balanceMicro: 500_000n, heldMicro: 0n }
  const spendable = (balance: Partial<typeof wallet>, grants: readonly ActiveGrant[]) =>
    addUpFunds([{ ...wallet, ...balance }], grants, NOW)[0]

  test('is what is left of the limits, but never more than the wallet has', () => {
    const big = { ...GRANT, dailyCapMicro: 500n * USDC, spent24hMicro: 99_500_000n }
    assert.equal(spendable({}, [big])?.limitsLeftMicro, 400_500_000n)
    assert.equal(spendable({}, [big])?.canSpendMicro, 500_000n)
    assert.equal(spendable({ balanceMicro: 1_000n * USDC }, [big])?.canSpendMicro, 400_500_000n)
  })

  test('does not include what pending payments hold', () => {
    assert.equal(spendable({ heldMicro: 200_000n }, [GRANT])?.canSpendMicro, 300_000n)
    assert.equal(spendable({ heldMicro: 700_000n }, [GRANT])?.canSpendMicro, 0n)
  })

  test('is nothing under a suspended or expired grant', () => {
    for (const changes of [{ suspendedAt: NOW }, { expiresAt: NOW }]) {
      assert.equal(spendable({}, [{ ...GRANT, ...changes }])?.canSpendMicro, 0n)
    }
  })

  test('counts what was spent beyond a lowered limit as nothing left', () => {
    assert.equal(spendable({}, [{ ...GRANT, spent24hMicro: 61n * USDC }])?.limitsLeftMicro, 0n)
  })
})
