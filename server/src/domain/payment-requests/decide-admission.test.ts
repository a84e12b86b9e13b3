import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseAddress } from '../../values/address.ts'
import { microUsdc } from '../../values/money.ts'
import { decideAdmission, type AdmissionInput } from './decide-admission.ts'

const USDC = parseAddress(`0x${'1'.repeat(40)}`) ?? assert.fail('no address')
const FRIEND = parseAddress(`0x${'2'.repeat(40)}`) ?? assert.fail('no address')
const NOW = new Date('2026-12-31T23:59:59Z')

const ALLOWED = {
  agentExists: true,
  walletExists: true,
  policy: {
    maxPerTxMicro: microUsdc(10_000_000n),
    dailyCapMicro: microUsdc(25_000_000n),
    recipientAllowlist: [FRIEND],
    contractAllowlist: [USDC],
    x402: false,
    expiresAt: new Date(NOW.getTime() + 1),
  },
  request: { contract: USDC, to: FRIEND, amountMicro: microUsdc(5_000_000n), amountUsdc: '5' },
  spent24hMicro: microUsdc(20_000_000n),
  allowance: { allowance: 1_000, used: 999 },
  balanceMicro: microUsdc(8_000_000n),
  unminedMicro: microUsdc(3_000_000n),
  gas: { coin: 'ETH', balanceWei: 400_000_000_000_000n, neededWei: 400_000_000_000_000n },
  now: NOW,
} satisfies AdmissionInput

const { policy } = ALLOWED

/** The reasons for a refusal, in the documented order (D18). Each one can occur together with any later one. */
const FAULTS: readonly { readonly code: string; readonly fault: Partial<AdmissionInput> }[] = [
  { code: 'agent_not_found', fault: { agentExists: false } },
  { code: 'wallet_not_found', fault: { walletExists: false } },
  { code: 'permission_not_found', fault: { policy: null } },
  { code: 'permission_expired', fault: { policy: { ...policy, expiresAt: NOW } } },
  { code: 'contract_not_allowed', fault: { policy: { ...policy, contractAllowlist: [FRIEND] } } },
  { code: 'recipient_not_allowed', fault: { policy: { ...policy, recipientAllowlist: [USDC] } } },
  { code: 'amount_too_large', fault: { policy: { ...policy, maxPerTxMicro: microUsdc(4_999_999n) } } },
  { code: 'daily_cap_exceeded', fault: { spent24hMicro: microUsdc(20_000_001n) } },
  { code: 'plan_cap_exceeded', fault: { allowance: { allowance: 1_000, used: 1_000 } } },
  { code: 'insufficient_balance', fault: { unminedMicro: microUsdc(3_000_001n) } },
  { code: 'insufficient_gas', fault: { gas: { ...ALLOWED.gas, balanceWei: 399_999_999_999_999n } } },
]

describe('decideAdmission', () => {
  test('a payment that is exactly within its cap, allowance, balance and gas is allowed', () => {
    assert.equal(decideAdmission(ALLOWED), null)
  })

  for (const [index, { code, fault }] of FAULTS.entries()) {
    test(`${code} is returned if it is the only reason`, () => {
      assert.equal(decideAdmission({ ...ALLOWED, ...fault })?.code, code)
    })

    test(`${code} is returned before all later reasons`, () => {
      // The input has this reason and all later ones. Several reasons change the policy, so this reason is merged last.
      const later = FAULTS.slice(index).toReversed()
      const merged = later.reduce<AdmissionInput>((sum, next) => merge(sum, next.fault), ALLOWED)
      assert.equal(decideAdmission(merged)?.code, code)
    })
  }

  test('without an allowance (an unlimited plan, or test mode), nothing is refused', () => {
    assert.equal(decideAdmission({ ...ALLOWED, allowance: null }), null)
  })

  test('if gas is sponsored, nothing is refused for missing gas', () => {
    assert.equal(decideAdmission({ ...ALLOWED, gas: null }), null)
  })

  test('a refusal for missing gas shows the balance and what one payment needs, in units of the native coin', () => {
    const gas = { coin: 'POL', balanceWei: 0n, neededWei: 10n ** 16n }
    assert.deepEqual(decideAdmission({ ...ALLOWED, gas })?.details, { coin: 'POL', balance: '0', needed: '0.01' })
  })

  test('a refusal by the plan shows the allowance and when it resets, and a refusal by the balance shows the balance (D18a)', () => {
    assert.deepEqual(decideAdmission({ ...ALLOWED, allowance: { allowance: 1_000, used: 1_004 } })?.details, {
      allowance: 1_000,
      used: 1_004,
      resets_at: '2027-01-01T00:00:00.000Z',
    })
    assert.deepEqual(decideAdmission({ ...ALLOWED, balanceMicro: microUsdc(0n) })?.details, {
      balance_usdc: '0',
      pending_usdc: '3',
      requested: '5',
    })
  })
})

function merge(payment: AdmissionInput, fault: Partial<AdmissionInput>): AdmissionInput {
  if (fault.policy === undefined || fault.policy === null || payment.policy === null) return { ...payment, ...fault }
  const changes = Object.entries(fault.policy).filter(([name, value]) => value !== Reflect.get(policy, name))
  return { ...payment, policy: { ...payment.policy, ...Object.fromEntries(changes) } }
}
