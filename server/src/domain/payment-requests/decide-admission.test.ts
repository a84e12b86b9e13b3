import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ChainUnavailable } from '../../chain/errors.ts'
import { parseAddress } from '../../values/address.ts'
import { parseAgentId } from '../../values/agent-id.ts'
import { microUsdc } from '../../values/money.ts'
import { PLANS } from '../plans/plan.ts'
import type { PaymentRequest } from './payment-request.ts'
import { decideAdmission, type DecidedRefusal, type Reading, type TimedRequest } from './decide-admission.ts'

const USDC = parseAddress(`0x${'1'.repeat(40)}`) ?? assert.fail('no address')
const FRIEND = parseAddress(`0x${'2'.repeat(40)}`) ?? assert.fail('no address')
const NOW = new Date('2026-12-31T23:59:59Z')

type Input = Omit<TimedRequest, 'request'> & Reading

const GRANT = {
  grantId: 'grt_1',
  signerKey: { slot: 1, sealed: Buffer.alloc(0) },
  maxPerTxMicro: microUsdc(10_000_000n),
  dailyCapMicro: microUsdc(25_000_000n),
  recipientAllowlist: [FRIEND],
  contractAllowlist: [USDC],
  x402: false,
  expiresAt: new Date(NOW.getTime() + 1_000),
}
const FACTS = {
  agentExists: true,
  enclaveWalletId: 'wallet',
  plan: 'developer',
  spent24hMicro: microUsdc(20_000_000n),
  unminedMicro: microUsdc(3_000_000n),
  hasUnexplained: false,
  hasNewest: true,
} as const
const ALLOWANCE = PLANS[FACTS.plan].monthlyAllowance
const GAS = { coin: 'ETH', balanceWei: 400_000_000_000_000n, neededWei: 400_000_000_000_000n }
const REQUEST: PaymentRequest = {
  workspaceId: 'acc_1',
  mode: 'live',
  ...{ agentId: parseAgentId('agent') ?? assert.fail('no agent'), wallet: USDC },
  ...{ to: FRIEND, amountMicro: microUsdc(5_000_000n), amountUsdc: '5', memo: null, idempotencyKey: null },
  ...{ credentialId: null, requestId: null, boundAgentId: null },
}
const ALLOWED: Input = {
  contract: USDC,
  grant: GRANT,
  existing: null,
  facts: FACTS,
  used: ALLOWANCE - 1,
  balance: { balanceMicro: microUsdc(8_000_000n), blockNumber: 1n },
  gas: GAS,
  now: NOW,
}

/** The reasons for a refusal, in the documented order (D18). Each one can occur together with any later one. */
const FAULTS: readonly { readonly code: string; readonly fault: Partial<Input> }[] = [
  { code: 'agent_not_found', fault: { facts: { ...FACTS, agentExists: false } } },
  { code: 'wallet_not_found', fault: { facts: { ...FACTS, enclaveWalletId: null } } },
  { code: 'permission_not_found', fault: { grant: null } },
  { code: 'permission_expired', fault: { grant: { ...GRANT, expiresAt: NOW } } },
  { code: 'contract_not_allowed', fault: { grant: { ...GRANT, contractAllowlist: [FRIEND] } } },
  { code: 'recipient_not_allowed', fault: { grant: { ...GRANT, recipientAllowlist: [USDC] } } },
  { code: 'amount_too_large', fault: { grant: { ...GRANT, maxPerTxMicro: microUsdc(4_999_999n) } } },
  { code: 'daily_cap_exceeded', fault: { facts: { ...FACTS, spent24hMicro: microUsdc(20_000_001n) } } },
  { code: 'plan_cap_exceeded', fault: { used: ALLOWANCE } },
  { code: 'insufficient_balance', fault: { facts: { ...FACTS, unminedMicro: microUsdc(3_000_001n) } } },
  { code: 'insufficient_gas', fault: { gas: { ...GAS, balanceWei: 399_999_999_999_999n } } },
]

describe('decideAdmission', () => {
  test('a payment that is exactly within its limit, allowance, balance and gas is allowed', () => {
    assert.equal(decide().kind, 'allowed')
  })

  for (const [index, { code, fault }] of FAULTS.entries()) {
    test(`${code} is returned if it is the only reason`, () => {
      assert.equal(refusalOf(fault).code, code)
    })

    test(`${code} is returned before all later reasons`, () => {
      // The input has this reason and all later ones. Several reasons change the grant, so this reason is merged last.
      const later = FAULTS.slice(index).toReversed()
      assert.equal(refusalOf(later.reduce<Partial<Input>>((sum, next) => merge(sum, next.fault), {})).code, code)
    })
  }

  test('without an allowance (an unlimited plan, or test mode), nothing is refused', () => {
    assert.equal(decide({ used: null }).kind, 'allowed')
    assert.equal(decide({ facts: { ...FACTS, plan: 'scale' }, used: 1_000_000 }).kind, 'allowed')
  })

  test('if gas is sponsored, nothing is refused for missing gas', () => {
    assert.equal(decide({ gas: null }).kind, 'allowed')
  })

  test('an unknown balance is reported only if every other check has passed', () => {
    const balance = new ChainUnavailable('no node responds')
    assert.deepEqual(decide({ balance }), { kind: 'out_of_reach', error: balance })
    assert.equal(refusalOf({ balance, used: ALLOWANCE }).code, 'plan_cap_exceeded')
  })

  test('a refusal says how much must leave the 24-hour window, and nothing if the limit itself is too low', () => {
    const spent = { ...FACTS, spent24hMicro: microUsdc(24_000_000n) }
    const excess = (grant: Partial<typeof GRANT>): unknown => {
      const decision = decide({ facts: spent, grant: { ...GRANT, ...grant } })
      return decision.kind === 'refused' ? decision.excessMicro : decision.kind
    }
    assert.deepEqual([excess({}), excess({ dailyCapMicro: microUsdc(4_999_999n) })], [4_000_000n, null])
  })

  test('a refusal for missing gas shows the balance and what one payment needs, in units of the native coin', () => {
    const gas = { coin: 'POL', balanceWei: 0n, neededWei: 10n ** 16n }
    assert.deepEqual(refusalOf({ gas }).details, { coin: 'POL', balance: '0', needed: '0.01' })
  })

  test('a refusal by the plan shows the allowance and when it resets, and a refusal by the balance shows the balance (D18a)', () => {
    assert.deepEqual(refusalOf({ used: ALLOWANCE + 4 }).details, {
      allowance: ALLOWANCE,
      used: ALLOWANCE + 4,
      resets_at: '2027-01-01T00:00:00.000Z',
    })
    assert.deepEqual(refusalOf({ balance: { balanceMicro: microUsdc(0n), blockNumber: 1n } }).details, {
      balance_usdc: '0',
      pending_usdc: '3',
      requested: '5',
    })
  })
})

function decide(changes: Partial<Input> = {}) {
  const input = { ...ALLOWED, ...changes }
  return decideAdmission({ ...input, request: REQUEST }, input)
}

function refusalOf(changes: Partial<Input>): DecidedRefusal {
  const decision = decide(changes)
  return decision.kind === 'refused' ? decision.refusal : assert.fail(decision.kind)
}

/** Adds a fault to others. Of a grant and of facts, only what differs from those of an allowed payment is added. */
function merge(sum: Partial<Input>, fault: Partial<Input>): Partial<Input> {
  return {
    ...sum,
    ...fault,
    ...(fault.facts === undefined ? {} : { facts: { ...FACTS, ...sum.facts, ...changesOf(FACTS, fault.facts) } }),
    ...(fault.grant && sum.grant !== null
      ? { grant: { ...GRANT, ...sum.grant, ...changesOf(GRANT, fault.grant) } }
      : {}),
  }
}

function changesOf<Whole extends object>(original: object, changed: Whole): Partial<Whole> {
  const changes = Object.entries(changed).filter(([name, value]) => value !== Reflect.get(original, name))
  return Object.fromEntries(changes) as Partial<Whole>
}
