import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeFunctionData, parseAbi } from 'viem/utils'
import { decidePolicy } from './decide-policy.ts'
import type { TransactionSubject } from './decide-policy.ts'
import type { ConditionRecord, PolicyRecord, RuleRecord } from './records.ts'

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const PAYEE = '0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B'
const OTHER = '0x00000000000000000000000000000000000000aa'
const ABI = parseAbi(['function transfer(address to, uint256 amount) returns (bool)'])
const transfer = (to: string, amount: bigint) => encodeFunctionData({ abi: ABI, args: [to as `0x${string}`, amount] })

const SUBJECT: TransactionSubject = {
  method: 'eth_sendTransaction',
  to: USDC,
  value: 0n,
  chainId: 8453n,
  data: transfer(PAYEE, 5_000_000n),
  nowSeconds: 1_789_718_333n,
}

const GRANT: readonly ConditionRecord[] = [
  { field_source: 'ethereum_transaction', field: 'chain_id', operator: 'eq', value: '8453' },
  { field_source: 'ethereum_transaction', field: 'to', operator: 'in', value: [USDC.toLowerCase()] },
  { field_source: 'ethereum_transaction', field: 'value', operator: 'eq', value: '0' },
  { field_source: 'ethereum_calldata', field: 'transfer.to', operator: 'in', value: [PAYEE.toLowerCase()], abi: ABI },
  { field_source: 'ethereum_calldata', field: 'transfer.amount', operator: 'lte', value: '5000000', abi: ABI },
  { field_source: 'system', field: 'current_unix_timestamp', operator: 'lt', value: '1789718334' },
]

const grantRule = rule('ALLOW', GRANT)

const GRANT_CASES: readonly [string, Partial<TransactionSubject>, 'ALLOW' | 'DENY'][] = [
  ['a payment at the cap, a second before expiry', {}, 'ALLOW'],
  ['one micro-USDC above the cap', { data: transfer(PAYEE, 5_000_001n) }, 'DENY'],
  ['another recipient', { data: transfer(OTHER, 1n) }, 'DENY'],
  ['another contract', { to: OTHER }, 'DENY'],
  ['another chain', { chainId: 84532n }, 'DENY'],
  ['a transfer of ether at the same time', { value: 1n }, 'DENY'],
  ['the second of expiry', { nowSeconds: 1_789_718_334n }, 'DENY'],
  ['another method', { method: 'eth_signTransaction' }, 'DENY'],
  ['calldata of another function', { data: '0x095ea7b3' }, 'DENY'],
  ['calldata that is cut off', { data: transfer(PAYEE, 1n).slice(0, -2) as `0x${string}` }, 'DENY'],
  ['no calldata', { data: '0x' }, 'DENY'],
]

for (const [name, change, expected] of GRANT_CASES) {
  test(`a grant's policy decides ${expected} for ${name}`, () => {
    assert.equal(decidePolicy([policy(grantRule)], { ...SUBJECT, ...change }), expected)
  })
}

const COMPARISONS: readonly [ConditionRecord['operator'], string | string[], boolean][] = [
  ['eq', '0x4c4b40', true],
  ['eq', '4999999', false],
  ['gt', '4999999', true],
  ['gt', '5000000', false],
  ['gte', '5000000', true],
  ['gte', '5000001', false],
  ['lt', '5000001', true],
  ['lt', '5000000', false],
  ['lte', '5000000', true],
  ['lte', '4999999', false],
  ['in', ['1', '5000000'], true],
  ['in', ['1', '2'], false],
  ['eq', 'five', false],
]

for (const [operator, value, expected] of COMPARISONS) {
  test(`an amount of 5000000 is ${expected ? '' : 'not '}${operator} ${String(value)}`, () => {
    const condition: ConditionRecord = {
      field_source: 'ethereum_calldata',
      field: 'transfer.amount',
      operator,
      value,
      abi: ABI,
    }
    assert.equal(decidePolicy([policy(rule('ALLOW', [condition]))], SUBJECT), expected ? 'ALLOW' : 'DENY')
  })
}

const toUsdc: ConditionRecord = { field_source: 'ethereum_transaction', field: 'to', operator: 'eq', value: USDC }
const toOther: ConditionRecord = { ...toUsdc, value: OTHER }

const COMBINATIONS: readonly [string, readonly (PolicyRecord | null)[], 'ALLOW' | 'DENY'][] = [
  ['no policy at all', [], 'ALLOW'],
  ['a deleted policy', [null], 'DENY'],
  ['a policy without rules', [policy()], 'DENY'],
  ['a rule that allows', [policy(rule('ALLOW', [toUsdc]))], 'ALLOW'],
  ['a rule whose conditions are not true', [policy(rule('ALLOW', [toOther]))], 'DENY'],
  ['a second rule whose conditions are true', [policy(rule('ALLOW', [toOther]), rule('ALLOW', [toUsdc]))], 'ALLOW'],
  ['a rule that denies after one that allows', [policy(rule('ALLOW', [toUsdc]), rule('DENY', [toUsdc]))], 'DENY'],
  ['a rule that would deny another contract', [policy(rule('ALLOW', [toUsdc]), rule('DENY', [toOther]))], 'ALLOW'],
  ['a rule for every method', [policy({ ...rule('ALLOW', []), method: '*' })], 'ALLOW'],
  ['a denial for every method', [policy(rule('ALLOW', [toUsdc]), { ...rule('DENY', []), method: '*' })], 'DENY'],
  ['two policies of which one denies', [policy(rule('ALLOW', [toUsdc])), policy()], 'DENY'],
]

for (const [name, policies, expected] of COMBINATIONS) {
  test(`${name}: ${expected}`, () => {
    assert.equal(decidePolicy(policies, SUBJECT), expected)
  })
}

test('if there are two overloads, the calldata is read with the inputs of the one that is called', () => {
  const abi = parseAbi(['function transfer(uint256 amount)', 'function transfer(address to, uint256 amount)'])
  const data = encodeFunctionData({ abi: ABI, args: [PAYEE, 7n] })
  const condition = (value: string): ConditionRecord => ({
    field_source: 'ethereum_calldata',
    field: 'transfer.amount',
    operator: 'eq',
    value,
    abi,
  })
  assert.equal(decidePolicy([policy(rule('ALLOW', [condition('7')]))], { ...SUBJECT, data }), 'ALLOW')
  assert.equal(
    decidePolicy([policy(rule('ALLOW', [condition(BigInt(PAYEE).toString())]))], { ...SUBJECT, data }),
    'DENY',
  )
})

function rule(action: RuleRecord['action'], conditions: readonly ConditionRecord[]): RuleRecord {
  return { id: 'r', name: 'rule', method: 'eth_sendTransaction', conditions, action }
}

function policy(...rules: RuleRecord[]): PolicyRecord {
  return { id: 'p', version: '1.0', name: 'policy', chain_type: 'ethereum', rules, owner_id: null, created_at: 0 }
}
