import { canonicalJson, type Json } from '../canonical-json.ts'
import { expect, readAddress, readInteger, readList, readMembers, readText, unknown } from './shape.ts'

/** What a policy's only rule allows: USDC transfers within these limits. */
export interface RuleTerms {
  readonly chainId: bigint
  /** Token contracts in lower case. A transfer of any of them is allowed. */
  readonly tokens: readonly string[]
  /** The most that one transfer may move, in the token's smallest unit. */
  readonly amountMax: bigint
  /** Recipients in lower case. Null allows any recipient. */
  readonly recipients: readonly string[] | null
  /** From this time on nothing is allowed. Null means no end. */
  readonly endsAt: Date | null
}

/** The only function that a rule may allow: `transfer(address to, uint256 amount)` of ERC-20. */
const TRANSFER_ABI: Json = [
  {
    type: 'function',
    name: 'transfer',
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'to', type: 'address' },
      { name: 'amount', type: 'uint256' },
    ],
    outputs: [{ name: '', type: 'bool' }],
  },
]

const TIME_SECONDS_MAX = 8_640_000_000_000n

/**
 * Decodes the complete rules of a policy. Returns null if there are none: the enclave then denies everything. Refuses
 * rules that are not exactly one rule of the kind that Bursar makes, with each condition once.
 */
export function decodeRules(value: Json | undefined): RuleTerms | null {
  const rules = readList(value, 'the list of rules')
  if (rules.length === 0) return null
  if (rules.length > 1) throw unknown('a policy with more than one rule')
  const rule = readMembers(rules[0], 'the rule', {
    required: ['name', 'method', 'action', 'conditions'],
  })
  readText(rule['name'], 'the name of the rule')
  expect(rule['method'], 'eth_sendTransaction', 'the method of the rule')
  expect(rule['action'], 'ALLOW', 'the action of the rule')
  return decodeConditions(readList(rule['conditions'], 'the conditions of the rule'))
}

function decodeConditions(conditions: readonly Json[]): RuleTerms {
  const byField = new Map<string, { operator: string; value: Json | undefined }>()
  for (const condition of conditions) {
    const { field, ...test } = decodeCondition(condition)
    if (byField.has(field)) throw unknown(`two conditions on ${field}`)
    byField.set(field, test)
  }
  const take = (field: string, operators: readonly string[]) => {
    const test = byField.get(field)
    byField.delete(field)
    if (test !== undefined && !operators.includes(test.operator)) throw unknown(`the condition on ${field}`)
    return test
  }
  const need = (field: string, operators: readonly string[]) => {
    const test = take(field, operators)
    if (test === undefined) throw unknown(`a rule without a condition on ${field}`)
    return test
  }

  const chain = need('ethereum_transaction.chain_id', ['eq'])
  const token = need('ethereum_transaction.to', ['eq', 'in'])
  const native = need('ethereum_transaction.value', ['eq'])
  expect(native.value, '0', 'the condition on the native value')
  const amount = need('ethereum_calldata.transfer.amount', ['lte'])
  const recipient = take('ethereum_calldata.transfer.to', ['eq', 'in'])
  const time = take('system.current_unix_timestamp', ['lt'])
  const [left] = byField.keys()
  if (left !== undefined) throw unknown(`the condition on ${left}`)
  return {
    chainId: readInteger(chain.value, 'the chain of the rule'),
    tokens: readAddresses(token, 'the token of the rule'),
    amountMax: readInteger(amount.value, 'the amount of the rule'),
    recipients: recipient === undefined ? null : readAddresses(recipient, 'the recipients of the rule'),
    endsAt: time === undefined ? null : readTime(time.value),
  }
}

function decodeCondition(value: Json): { field: string; operator: string; value: Json | undefined } {
  const condition = readMembers(value, 'a condition', {
    required: ['field_source', 'field', 'operator', 'value'],
    optional: ['abi'],
  })
  const source = readText(condition['field_source'], 'the source of a condition')
  const isCall = source === 'ethereum_calldata'
  const abi = condition['abi']
  if (isCall !== (abi !== undefined)) throw unknown('the ABI of a condition')
  if (abi !== undefined && canonicalJson(abi) !== canonicalJson(TRANSFER_ABI)) throw unknown('the ABI of a condition')
  return {
    field: `${source}.${readText(condition['field'], 'the field of a condition')}`,
    operator: readText(condition['operator'], 'the operator of a condition'),
    value: condition['value'],
  }
}

function readAddresses(
  { operator, value }: { operator: string; value: Json | undefined },
  what: string,
): readonly string[] {
  if (operator === 'eq') return [readAddress(value, what)]
  const list = readList(value, what).map((one) => readAddress(one, what))
  if (list.length === 0) throw unknown(what)
  return [...new Set(list)]
}

function readTime(value: Json | undefined): Date {
  const seconds = readInteger(value, 'the end date of the rule')
  if (seconds > TIME_SECONDS_MAX) throw unknown('the end date of the rule')
  return new Date(Number(seconds) * 1_000)
}
