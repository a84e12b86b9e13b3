import { canonicalJson, type Json } from '../canonical-json.ts'
import { readRuleName } from './rule-name.ts'
import { expect, readAddress, readInteger, readList, readMembers, readText, unknown } from './shape.ts'
import { AUTHORIZATION_TYPE } from './typed-data.ts'

/** What a policy's rules allow: transfers of USDC within these limits, and purchases within the same limits. */
export interface RuleTerms {
  /** The grant whose id is in the name of the rules. */
  readonly grantId: string
  readonly chainId: bigint
  /** Token contracts in lower case. A transfer of any of them is allowed. */
  readonly tokens: readonly string[]
  /** The most that one transfer may move, in the token's smallest unit. */
  readonly amountMax: bigint
  /**
   * The most that the agent may spend in 24 hours, in millionths of USDC. It is in the name of the rules, so it is signed
   * like the other limits, but only the service enforces it. Null if the signature covers no such limit.
   */
  readonly dailyMax: bigint | null
  /** Recipients in lower case. Null allows any recipient. */
  readonly recipients: readonly string[] | null
  /** Nothing is allowed from this time on. Null means no end. */
  readonly endsAt: Date | null
  /**
   * The token for which the agent may also sign payment authorizations (EIP-3009), which others submit to the chain.
   * None of these can be used after `endsAt`. Null if the agent may sign none.
   */
  readonly purchaseToken: string | null
}

type TransferTerms = Omit<RuleTerms, 'grantId' | 'dailyMax' | 'purchaseToken'>

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

/** The only typed data that a rule may allow: `TransferWithAuthorization` of EIP-3009, without the domain's type. */
const AUTHORIZATION_SHAPE: Json = {
  primary_type: 'TransferWithAuthorization',
  types: { TransferWithAuthorization: AUTHORIZATION_TYPE },
}

const SOURCE_PATTERN = /^[a-z_]+$/
const TIME_SECONDS_MAX = 8_640_000_000_000n

/**
 * Decodes the complete rules of a policy. Returns null if there are none: the enclave then denies everything. Refuses
 * rules that are not exactly those that Bursar makes: one for transfers, and perhaps one for purchases, each with every
 * condition once. Both must have the same limits and the same name, so that this page can state them once.
 */
export function decodeRules(value: Json | undefined): RuleTerms | null {
  const [transfers, purchases, ...more] = readList(value, 'the list of rules')
  if (transfers === undefined) return null
  if (more.length > 0) throw unknown('a policy with more than two rules')
  const { name, conditions } = readRule(transfers, 'eth_sendTransaction')
  const terms = decodeTransferRule(conditions)
  const named = readRuleName(name)
  if (purchases === undefined) return { ...terms, ...named, purchaseToken: null }
  const other = readRule(purchases, 'eth_signTypedData_v4')
  expect(other.name, name, 'the name of the rule for purchases')
  return { ...terms, ...named, purchaseToken: decodePurchaseRule(other.conditions, terms) }
}

interface Test {
  readonly operator: string
  readonly value: Json | undefined
}

/** The conditions of a rule, by source and field. Each condition is taken once, and none may be left at the end. */
class Conditions {
  readonly #byField = new Map<string, Test>()

  constructor(conditions: readonly Json[]) {
    for (const condition of conditions) {
      const { field, ...test } = decodeCondition(condition)
      if (this.#byField.has(field)) throw unknown(`two conditions on ${field}`)
      this.#byField.set(field, test)
    }
  }

  take(field: string, operators: readonly string[]): Test | undefined {
    const test = this.#byField.get(field)
    this.#byField.delete(field)
    if (test !== undefined && !operators.includes(test.operator)) throw unknown(`the condition on ${field}`)
    return test
  }

  need(field: string, operators: readonly string[]): Test {
    const test = this.take(field, operators)
    if (test === undefined) throw unknown(`a rule without a condition on ${field}`)
    return test
  }

  end(): void {
    const [left] = this.#byField.keys()
    if (left !== undefined) throw unknown(`the condition on ${left}`)
  }
}

function readRule(value: Json, method: string): { name: string; conditions: Conditions } {
  const rule = readMembers(value, 'the rule', { required: ['name', 'method', 'action', 'conditions'] })
  const name = readText(rule['name'], 'the name of the rule')
  expect(rule['method'], method, 'the method of the rule')
  expect(rule['action'], 'ALLOW', 'the action of the rule')
  return { name, conditions: new Conditions(readList(rule['conditions'], 'the conditions of the rule')) }
}

function decodeTransferRule(conditions: Conditions): TransferTerms {
  const chain = conditions.need('ethereum_transaction.chain_id', ['eq'])
  const token = conditions.need('ethereum_transaction.to', ['eq', 'in'])
  const native = conditions.need('ethereum_transaction.value', ['eq'])
  expect(native.value, '0', 'the condition on the native value')
  const amount = conditions.need('ethereum_calldata.transfer.amount', ['lte'])
  const recipient = conditions.take('ethereum_calldata.transfer.to', ['eq', 'in'])
  const time = conditions.take('system.current_unix_timestamp', ['lt'])
  conditions.end()
  return {
    chainId: readInteger(chain.value, 'the chain of the rule'),
    tokens: readAddresses(token, 'the token of the rule'),
    amountMax: readInteger(amount.value, 'the amount of the rule'),
    recipients: recipient === undefined ? null : readAddresses(recipient, 'the recipients of the rule'),
    endsAt: time === undefined ? null : readTime(time.value),
  }
}

/** Returns the token contract. Refuses a rule for purchases whose limits are not those of the rule for transfers. */
function decodePurchaseRule(conditions: Conditions, terms: TransferTerms): string {
  const chain = conditions.need('ethereum_typed_data_domain.chainId', ['eq'])
  const contract = conditions.need('ethereum_typed_data_domain.verifyingContract', ['eq'])
  const amount = conditions.need('ethereum_typed_data_message.value', ['lte'])
  const recipient = conditions.take('ethereum_typed_data_message.to', ['eq', 'in'])
  const validBefore = conditions.take('ethereum_typed_data_message.validBefore', ['lte'])
  const time = conditions.take('system.current_unix_timestamp', ['lt'])
  conditions.end()
  const token = readAddress(contract.value, 'the token of purchases')
  if (!terms.tokens.includes(token)) throw unknown('the token of purchases')
  if (readInteger(chain.value, 'the chain of purchases') !== terms.chainId) throw unknown('the chain of purchases')
  if (readInteger(amount.value, 'the amount of purchases') !== terms.amountMax) throw unknown('the amount of purchases')
  const recipients = recipient === undefined ? null : readAddresses(recipient, 'the recipients of purchases')
  if (recipients?.toSorted().join() !== terms.recipients?.toSorted().join())
    throw unknown('the recipients of purchases')
  for (const end of [validBefore, time]) {
    const endsAt = end === undefined ? null : readTime(end.value)
    if (endsAt?.getTime() !== terms.endsAt?.getTime()) throw unknown('the end date of purchases')
  }
  return token
}

function decodeCondition(value: Json): { field: string; operator: string; value: Json | undefined } {
  const condition = readMembers(value, 'a condition', {
    required: ['field_source', 'field', 'operator', 'value'],
    optional: ['abi', 'typed_data'],
  })
  const source = readText(condition['field_source'], 'the source of a condition')
  // The source and the field together must not read like another source and field.
  if (!SOURCE_PATTERN.test(source)) throw unknown('the source of a condition')
  const isCall = source === 'ethereum_calldata'
  const abi = condition['abi']
  if (isCall !== (abi !== undefined)) throw unknown('the ABI of a condition')
  if (abi !== undefined && canonicalJson(abi) !== canonicalJson(TRANSFER_ABI)) throw unknown('the ABI of a condition')
  const shape = condition['typed_data']
  if ((source === 'ethereum_typed_data_message') !== (shape !== undefined)) throw unknown('the types of a condition')
  if (shape !== undefined && canonicalJson(shape) !== canonicalJson(AUTHORIZATION_SHAPE)) {
    throw unknown('the types of a condition')
  }
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
