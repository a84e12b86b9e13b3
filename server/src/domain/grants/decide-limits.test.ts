import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseAddress, type Address } from '../../values/address.ts'
import { microUsdc } from '../../values/money.ts'
import type { GrantPolicy } from './grant.ts'
import { decideLimits, remainingMicro, type TransferRequest } from './decide-limits.ts'

const USDC = address('1')
const OTHER_TOKEN = address('2')
const FRIEND = address('3')
const STRANGER = address('4')
const NOW = new Date('2026-03-01T12:00:00Z')
const BEFORE = new Date(NOW.getTime() - 1)
const WITHIN_SECOND = new Date(NOW.getTime() + 999)
const AFTER = new Date(NOW.getTime() + 1_000)

const POLICY: GrantPolicy = {
  maxPerTxMicro: microUsdc(10_000_000n),
  dailyCapMicro: microUsdc(25_000_000n),
  recipientAllowlist: [],
  contractAllowlist: [USDC],
  expiresAt: null,
  x402: false,
}
const REQUEST: TransferRequest = { contract: USDC, to: FRIEND, amountMicro: microUsdc(5_000_000n), amountUsdc: '5.00' }

interface Row {
  readonly name: string
  readonly policy?: Partial<GrantPolicy>
  readonly request?: Partial<TransferRequest>
  readonly spent?: bigint
  readonly answer: string | null
}

const expired = { expiresAt: BEFORE }
const wrongContract = { contractAllowlist: [OTHER_TOKEN] }
const wrongRecipient = { recipientAllowlist: [STRANGER] }
const large = { amountMicro: microUsdc(10_000_001n) }

/** The refusals in the documented order (D18). */
const ROWS: readonly Row[] = [
  { name: 'within every limit', answer: null },
  { name: 'a grant that expired a moment ago', policy: expired, answer: 'permission_expired' },
  { name: 'a grant that expires now', policy: { expiresAt: NOW }, answer: 'permission_expired' },
  {
    name: 'a grant that expires within this second, of which the owner has signed the beginning',
    policy: { expiresAt: WITHIN_SECOND },
    answer: 'permission_expired',
  },
  { name: 'a grant that expires in the next second', policy: { expiresAt: AFTER }, answer: null },
  { name: 'a purchase under a grant without purchases', request: { kind: 'x402' }, answer: 'purchases_not_allowed' },
  { name: 'a purchase', policy: { x402: true }, request: { kind: 'x402' }, answer: null },
  { name: 'a transfer under a grant with purchases', policy: { x402: true }, answer: null },
  { name: 'a contract that is not listed', policy: wrongContract, answer: 'contract_not_allowed' },
  {
    name: 'one of several contracts that are listed',
    policy: { contractAllowlist: [OTHER_TOKEN, USDC] },
    answer: null,
  },
  { name: 'a recipient that is not listed', policy: wrongRecipient, answer: 'recipient_not_allowed' },
  {
    name: 'one of several recipients that are listed',
    policy: { recipientAllowlist: [STRANGER, FRIEND] },
    answer: null,
  },
  { name: 'exactly the per-payment limit', request: { amountMicro: microUsdc(10_000_000n) }, answer: null },
  { name: 'one micro-USDC above the per-payment limit', request: large, answer: 'amount_too_large' },
  { name: 'exactly at the cap', spent: 20_000_000n, answer: null },
  { name: 'one micro-USDC above the cap', spent: 20_000_001n, answer: 'daily_cap_exceeded' },
  { name: 'a cap below what was already spent', spent: 90_000_000n, answer: 'daily_cap_exceeded' },
  {
    name: 'every reason for a refusal at once',
    policy: { ...expired, ...wrongContract, ...wrongRecipient },
    request: large,
    spent: 90_000_000n,
    answer: 'permission_expired',
  },
  {
    name: 'every reason except the expiry',
    policy: { ...wrongContract, ...wrongRecipient },
    request: large,
    spent: 90_000_000n,
    answer: 'contract_not_allowed',
  },
  {
    name: 'recipient, per-payment limit and cap',
    policy: wrongRecipient,
    request: large,
    spent: 90_000_000n,
    answer: 'recipient_not_allowed',
  },
  { name: 'per-payment limit and cap', request: large, spent: 90_000_000n, answer: 'amount_too_large' },
]

describe('decideLimits', () => {
  for (const { name, policy, request, spent = 0n, answer } of ROWS) {
    test(`${name}: ${answer ?? 'allowed'}`, () => {
      const refusal = decideLimits(
        { ...POLICY, ...policy },
        { request: { ...REQUEST, ...request }, spent24hMicro: microUsdc(spent), now: NOW },
      )
      assert.equal(refusal?.code ?? null, answer)
    })
  }

  test('a refusal says what would be allowed (D18a)', () => {
    const details = (policy: Partial<GrantPolicy>, spent = 0n) =>
      decideLimits({ ...POLICY, ...policy }, { request: REQUEST, spent24hMicro: microUsdc(spent), now: NOW })?.details
    assert.deepEqual(details({ maxPerTxMicro: microUsdc(1n) }), { max_per_tx_usdc: '0.000001', requested: '5.00' })
    assert.deepEqual(details({}, 22_500_000n), {
      daily_cap_usdc: '25',
      spent_24h_usdc: '22.5',
      remaining_24h_usdc: '2.5',
      requested: '5.00',
    })
    assert.deepEqual(details(expired), { expires_at: BEFORE.toISOString() })
    assert.deepEqual(details(wrongContract), { contract_allowlist: [OTHER_TOKEN], requested: USDC })
    assert.deepEqual(details(wrongRecipient), { recipient_allowlist: [STRANGER], requested: FRIEND })
  })

  test('whatever payments are made in whatever order, their sum never exceeds the cap, but can reach it exactly', () => {
    const amounts = fc.array(fc.bigInt({ min: 1n, max: 12_000_000n }), { maxLength: 40 })
    fc.assert(
      fc.property(amounts, (payments) => {
        const decide = (spent: bigint, amount: bigint) =>
          decideLimits(POLICY, {
            request: { ...REQUEST, amountMicro: microUsdc(amount) },
            spent24hMicro: microUsdc(spent),
            now: NOW,
          })
        let spent = 0n
        for (const amount of payments) {
          const allowed = decide(spent, amount) === null
          assert.equal(allowed, amount <= POLICY.maxPerTxMicro && spent + amount <= POLICY.dailyCapMicro)
          if (allowed) spent += amount
        }
        assert.ok(spent <= POLICY.dailyCapMicro)
        const rest = POLICY.dailyCapMicro - spent
        if (rest > 0n && rest <= POLICY.maxPerTxMicro) assert.equal(decide(spent, rest), null)
      }),
    )
  })
})

test('the remaining amount of a limit is never negative', () => {
  assert.deepEqual([remainingMicro(5n, 2n), remainingMicro(5n, 5n), remainingMicro(5n, 9n)], [3n, 0n, 0n])
})

function address(digit: string): Address {
  const parsed = parseAddress(`0x${digit.repeat(40)}`)
  assert.ok(parsed !== null)
  return parsed
}
