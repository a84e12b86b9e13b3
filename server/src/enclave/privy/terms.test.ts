import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { parseAddress, type Address } from '../../values/address.ts'
import { microUsdc } from '../../values/money.ts'
import type { SlotRules, Terms } from '../enclave.ts'
import { RULE_NAME_CHARS_MAX } from '../rule-name-limit.ts'
import { ALLOWLIST_ENTRIES_MAX, compareWithTerms, sameRules, toRules, type PolicyRule } from './terms.ts'

const USDC = address('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913')
const ANN = address('0x52908400098527886e0f7030069857d2e4169ee7')
const BOB = address('0x8617e340b3d01fa5f11f306f4090fd50e238070d')

function address(text: string): Address {
  const parsed = parseAddress(text)
  assert.ok(parsed)
  return parsed
}

function terms(change: Partial<Terms> = {}): Terms {
  return {
    ruleName: 'grt_1',
    chainId: 8453,
    maxPerTxMicro: microUsdc(5_000_000n),
    recipientAllowlist: [ANN, BOB],
    contractAllowlist: [USDC],
    expiresAt: new Date(1_789_718_333_999),
    x402: false,
    usdc: USDC,
    ...change,
  }
}

type Json = { [member: string]: Json } & Json[] & string

/** The rules as the enclave returns them: through JSON, each with an id. */
function stored(change: Partial<Terms> = {}): Json {
  return JSON.parse(JSON.stringify(toRules(terms(change)).map((rule) => ({ id: 'rule1', ...rule })))) as Json
}

describe('toRules', () => {
  it('allows one call within the terms, and no other rule', () => {
    const [rule, ...more] = toRules(terms())
    assert.equal(more.length, 0)
    assert.equal(rule?.method, 'eth_sendTransaction')
    assert.equal(rule.action, 'ALLOW')
    assert.deepEqual(
      rule.conditions.map((condition) => [
        condition.field_source,
        condition.field,
        condition.operator,
        condition.value,
      ]),
      [
        ['ethereum_transaction', 'chain_id', 'eq', '8453'],
        ['ethereum_transaction', 'to', 'in', [USDC]],
        ['ethereum_transaction', 'value', 'eq', '0'],
        ['ethereum_calldata', 'transfer.amount', 'lte', '5000000'],
        ['ethereum_calldata', 'transfer.to', 'in', [ANN, BOB]],
        ['system', 'current_unix_timestamp', 'lt', '1789718333'],
      ],
    )
    assert.equal(rule.name, 'grt_1')
  })

  it('allows to sign authorizations of the USDC contract, within the same terms', () => {
    const [transfers, purchases, ...more] = toRules(terms({ x402: true }))
    assert.equal(more.length, 0)
    assert.deepEqual([transfers], toRules(terms()))
    const types = {
      TransferWithAuthorization: [
        ...['from', 'to'].map((name) => ({ name, type: 'address' })),
        ...['value', 'validAfter', 'validBefore'].map((name) => ({ name, type: 'uint256' })),
        { name: 'nonce', type: 'bytes32' },
      ],
    }
    const typed_data = { primary_type: 'TransferWithAuthorization', types }
    const domain = { field_source: 'ethereum_typed_data_domain', operator: 'eq' }
    const message = { field_source: 'ethereum_typed_data_message', typed_data }
    assert.deepEqual(purchases, {
      name: 'grt_1',
      method: 'eth_signTypedData_v4',
      action: 'ALLOW',
      conditions: [
        { ...domain, field: 'chainId', value: '8453' },
        { ...domain, field: 'verifyingContract', value: USDC },
        { ...message, field: 'value', operator: 'lte', value: '5000000' },
        { ...message, field: 'to', operator: 'in', value: [ANN, BOB] },
        { ...message, field: 'validBefore', operator: 'lte', value: '1789718333' },
        { field_source: 'system', field: 'current_unix_timestamp', operator: 'lt', value: '1789718333' },
      ],
    })
  })

  it('leaves out what the terms leave open', () => {
    const [rule] = toRules(terms({ recipientAllowlist: [], expiresAt: null }))
    assert.deepEqual(
      rule?.conditions.map(({ field }) => field),
      ['chain_id', 'to', 'value', 'transfer.amount'],
    )
  })

  const IMPOSSIBLE: [string, Partial<Terms>][] = [
    ['no contract', { contractAllowlist: [] }],
    ['too many contracts', { contractAllowlist: Array.from({ length: ALLOWLIST_ENTRIES_MAX + 1 }, () => USDC) }],
    ['too many recipients', { recipientAllowlist: Array.from({ length: ALLOWLIST_ENTRIES_MAX + 1 }, () => ANN) }],
    ['a cap of zero', { maxPerTxMicro: microUsdc(0n) }],
    ['no chain', { chainId: 0 }],
    ['no name', { ruleName: '' }],
    ['a name that is too long', { ruleName: '0'.repeat(RULE_NAME_CHARS_MAX + 1) }],
    ['an expiry that is no time', { expiresAt: new Date(Number.NaN) }],
  ]
  for (const [name, change] of IMPOSSIBLE) {
    it(`refuses ${name}`, () => {
      assert.throws(() => toRules(terms(change)), RangeError)
    })
  }
})

function matches(rules: readonly unknown[], wanted: Terms): boolean {
  return compareWithTerms(rules, wanted).differences.length === 0
}

type Edit = (rules: Json) => unknown
/** Returns the condition at position `i` of the first rule. */
const condition = (rules: Json, i: number): Json => rules[0]?.['conditions']?.[i] as Json

function rotate(list: Json[] | undefined): void {
  assert.ok(list && list.length > 1)
  list.push(...list.splice(0, 1))
}

const SAME: [string, Edit][] = [
  ['nothing', () => undefined],
  ['another rule name', (rules) => Object.assign(rules[0] as Json, { name: 'x' })],
  ['conditions in another order', (rules) => rotate(rules[0]?.['conditions'])],
  ['recipients in another order', (rules) => rotate(condition(rules, 4)['value'])],
  ['addresses in lower case', (rules) => Object.assign(condition(rules, 1), { value: [USDC.toLowerCase()] })],
  ['a number in hexadecimal', (rules) => Object.assign(condition(rules, 3), { value: '0x4c4b40' })],
  ['a null member more of a condition', (rules) => Object.assign(condition(rules, 0), { negate: null })],
  ['a null member more of a rule', (rules) => Object.assign(rules[0] as Json, { conditions_match: null })],
  ['an id of a condition', (rules) => Object.assign(condition(rules, 0), { id: 'c1', created_at: 1 })],
  ['a description of a rule', (rules) => Object.assign(rules[0] as Json, { description: 'x', updated_at: 1 })],
  ['an ABI without its outputs', (rules) => Reflect.deleteProperty(condition(rules, 3)['abi']?.[0] as Json, 'outputs')],
]

const DIFFERENT: [string, Edit][] = [
  ['a higher cap', (rules) => Object.assign(condition(rules, 3), { value: '5000001' })],
  ['a lower cap', (rules) => Object.assign(condition(rules, 3), { value: '4999999' })],
  ['another recipient', (rules) => condition(rules, 4)['value']?.push(USDC as unknown as Json)],
  ['a recipient fewer', (rules) => condition(rules, 4)['value']?.pop()],
  ['no condition on recipients', (rules) => rules[0]?.['conditions']?.splice(4, 1)],
  ['no condition at all', (rules) => Object.assign(rules[0] as Json, { conditions: [] })],
  ['a doubled condition', (rules) => rules[0]?.['conditions']?.push(condition(rules, 0))],
  ['another contract', (rules) => Object.assign(condition(rules, 1), { value: [ANN] })],
  ['another operator', (rules) => Object.assign(condition(rules, 3), { operator: 'gte' })],
  ['another field', (rules) => Object.assign(condition(rules, 3), { field: 'transfer.to' })],
  ['another source', (rules) => Object.assign(condition(rules, 0), { field_source: 'system' })],
  ['a member more', (rules) => Object.assign(condition(rules, 0), { negate: true })],
  ['a member more of the rule', (rules) => Object.assign(rules[0] as Json, { conditions_match: 'any' })],
  ['a member more that is false', (rules) => Object.assign(condition(rules, 0), { enabled: false })],
  ['an operator that is null', (rules) => Object.assign(condition(rules, 3), { operator: null })],
  ['a value that is null', (rules) => Object.assign(condition(rules, 3), { value: null })],
  ['an ABI that is null', (rules) => Object.assign(condition(rules, 3), { abi: null })],
  ['conditions that are null', (rules) => Object.assign(rules[0] as Json, { conditions: null })],
  ['a null among the recipients', (rules) => condition(rules, 4)['value']?.push(null as unknown as Json)],
  ['another chain', (rules) => Object.assign(condition(rules, 0), { value: '1' })],
  ['a later expiry', (rules) => Object.assign(condition(rules, 5), { value: '1789718334' })],
  ['another action', (rules) => Object.assign(rules[0] as Json, { action: 'DENY' })],
  ['another method', (rules) => Object.assign(rules[0] as Json, { method: '*' })],
  ['a rule more', (rules) => rules.push(rules[0] as Json)],
  ['no rule', (rules) => rules.pop()],
  ['arguments of the ABI swapped', (rules) => rotate(condition(rules, 3)['abi']?.[0]?.['inputs'])],
  [
    'another function in the ABI',
    (rules) => Object.assign(condition(rules, 3)['abi']?.[0] as Json, { name: 'approve' }),
  ],
  [
    'another function beside it in the ABI',
    (rules) => condition(rules, 3)['abi']?.push({ type: 'fallback' } as unknown as Json),
  ],
  ['no ABI', (rules) => Reflect.deleteProperty(condition(rules, 3), 'abi')],
  ['rules that are no rules', (rules) => rules.splice(0, 1, null as unknown as Json)],
]

/** Returns the members that the condition on a purchase's `value` declares for an authorization (EIP-712). */
const members = (rules: Json): Json =>
  rules[1]?.['conditions']?.[2]?.['typed_data']?.['types']?.['TransferWithAuthorization'] as Json
const typedData = (rules: Json): Json => rules[1]?.['conditions']?.[2]?.['typed_data'] as Json

/** Changes to the rules of a grant with purchases. The changed rules could allow more than the grant, or nothing. */
const DIFFERENT_PURCHASES: [string, Edit][] = [
  ['no rule for purchases', (rules) => rules.pop()],
  ['a rule for purchases twice', (rules) => rules.push(rules[1] as Json)],
  ['the rules in another order', (rules) => rotate(rules)],
  ['another order of the members', (rules) => rotate(members(rules))],
  ['a member more', (rules) => members(rules).push({ name: 'x', type: 'uint256' } as unknown as Json)],
  ['a member fewer', (rules) => members(rules).pop()],
  ['another type of a member', (rules) => Object.assign(members(rules)[2] as Json, { type: 'uint128' })],
  ['a note beside a member', (rules) => Object.assign(members(rules)[2] as Json, { note: null })],
  ['the type of the domain', (rules) => Object.assign(typedData(rules)['types'] as Json, { EIP712Domain: [] })],
  ['another primary type', (rules) => Object.assign(typedData(rules), { primary_type: 'ReceiveWithAuthorization' })],
  ['no types', (rules) => Reflect.deleteProperty(rules[1]?.['conditions']?.[2] as Json, 'typed_data')],
  ['types that are null', (rules) => Object.assign(rules[1]?.['conditions']?.[2] as Json, { typed_data: null })],
  ['another token', (rules) => Object.assign(rules[1]?.['conditions']?.[1] as Json, { value: ANN })],
  ['a later end', (rules) => Object.assign(rules[1]?.['conditions']?.[4] as Json, { value: '1789718334' })],
  ['no condition on the payee', (rules) => rules[1]?.['conditions']?.splice(3, 1)],
  ['another method', (rules) => Object.assign(rules[1] as Json, { method: '*' })],
]

/** Returns what the terms mean, as text. Terms mean the same if, and only if, their texts are equal. */
function meaning(wanted: Terms): string {
  const { chainId, maxPerTxMicro, recipientAllowlist, contractAllowlist, expiresAt, x402, usdc } = wanted
  const expiry = expiresAt === null ? 'never' : Math.floor(expiresAt.getTime() / 1000)
  const purchases = x402 ? usdc : 'none'
  const lists = [recipientAllowlist.toSorted(), contractAllowlist.toSorted()]
  return [chainId, maxPerTxMicro, ...lists, expiry, purchases].join(' ')
}

describe('compareWithTerms', () => {
  for (const [name, edit] of SAME) {
    it(`finds no difference in ${name}`, () => {
      const rules = stored()
      edit(rules)
      assert.equal(matches(rules, terms()), true)
    })
  }

  for (const [name, edit] of DIFFERENT) {
    it(`finds the difference in ${name}`, () => {
      const rules = stored()
      edit(rules)
      assert.equal(matches(rules, terms()), false)
    })
  }

  for (const [name, edit] of DIFFERENT_PURCHASES) {
    it(`finds the difference in the rule for purchases: ${name}`, () => {
      const rules = stored({ x402: true })
      assert.equal(matches(rules, terms({ x402: true })), true)
      edit(rules)
      assert.equal(matches(rules, terms({ x402: true })), false)
    })
  }

  it('names what differs and what it ignores, but no values', () => {
    const rules = stored()
    Object.assign(rules[0] as Json, { action: 'DENY', priority: null })
    Object.assign(condition(rules, 0), { negate: true })
    Object.assign(condition(rules, 3), { value: '5000001', note: null, id: 'c4' })
    assert.deepEqual(compareWithTerms(rules, terms()), {
      differences: ['rules[0].action', 'rules[0].conditions on chain_id', 'rules[0].conditions on transfer.amount'],
      ignored: ['rules[0].priority', 'rules[0].conditions[3].note', 'rules[0].conditions[3].id'],
    })
    assert.deepEqual(compareWithTerms([], terms()).differences, ['0 rules instead of 1'])
  })

  it('recognizes the rules of any terms again, in whatever form the enclave returns them, and no other rules', () => {
    const anyTerms = fc.record({
      ruleName: fc.constantFrom('grt_1 1', 'grt_1 2'),
      chainId: fc.constantFrom(1, 8453),
      maxPerTxMicro: fc.bigInt(1n, 3n).map(microUsdc),
      recipientAllowlist: fc.uniqueArray(fc.constantFrom(ANN, BOB)),
      contractAllowlist: fc.uniqueArray(fc.constantFrom(USDC, BOB), { minLength: 1 }),
      expiresAt: fc.constantFrom(null, new Date(1_000), new Date(1_999), new Date(2_000)),
      x402: fc.boolean(),
      usdc: fc.constantFrom(USDC, BOB),
    })
    const anyForm = fc.record({
      isReversed: fc.boolean(),
      isLowerCase: fc.boolean(),
      isHexadecimal: fc.boolean(),
      more: fc.constantFrom({}, { id: 'x', created_at: 1 }, { new_member: null }),
    })
    fc.assert(
      fc.property(anyTerms, anyTerms, anyForm, (held, wanted, form) => {
        const rules = toForm(toRules(held), form)
        const isEqual = meaning(held) === meaning(wanted)
        assert.equal(matches(rules, wanted), isEqual)
        assert.equal(sameRules(rules, toRules(wanted)), isEqual && held.ruleName === wanted.ruleName)
      }),
      { numRuns: 1_000 },
    )
  })
})

interface Form {
  readonly isReversed: boolean
  readonly isLowerCase: boolean
  readonly isHexadecimal: boolean
  /** Members that each rule and condition has in addition. */
  readonly more: object
}

/** Returns rules in another form that means the same. */
function toForm(rules: readonly PolicyRule[], { isReversed, isLowerCase, isHexadecimal, more }: Form): SlotRules {
  const order = <Item>(list: readonly Item[]): readonly Item[] => (isReversed ? list.toReversed() : list)
  const write = (value: string): string => {
    if (value.startsWith('0x')) return isLowerCase ? value.toLowerCase() : value
    return isHexadecimal ? `0x${BigInt(value).toString(16)}` : value
  }
  return rules.map((rule) => ({
    ...rule,
    ...more,
    conditions: order(rule.conditions).map((one) => ({
      ...one,
      ...more,
      value: typeof one.value === 'string' ? write(one.value) : order(one.value).map(write),
    })),
  }))
}
