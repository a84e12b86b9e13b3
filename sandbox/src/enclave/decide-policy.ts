import { decodeFunctionData, isAddress, toFunctionSelector } from 'viem/utils'
import type { Abi, Hex } from 'viem'
import type { ConditionRecord, PolicyRecord } from './records.ts'
import { readDomain, readMessage } from './typed-data.ts'
import type { TypedData } from './typed-data.ts'

/** A transaction, as the policies check it. */
export interface TransactionSubject {
  readonly method: string
  readonly to: string
  readonly value: bigint
  readonly chainId: bigint
  readonly data: Hex
  readonly nowSeconds: bigint
}

/** Typed data to sign (EIP-712), as the policies check it. */
export interface TypedDataSubject {
  readonly method: 'eth_signTypedData_v4'
  readonly typedData: TypedData
  readonly nowSeconds: bigint
}

export type PolicySubject = TransactionSubject | TypedDataSubject

/**
 * Decides in the same order as the provider. Among the rules for the request's method, it considers those whose
 * conditions are all true. If any of them is DENY, the request is denied. Otherwise, if any of them is ALLOW, the
 * request is allowed. If there is no such rule, the request is denied. If there are several policies, each must allow
 * the request. A deleted policy denies everything. With an empty list of policies, as for an owner, everything is
 * allowed.
 */
export function decidePolicy(policies: readonly (PolicyRecord | null)[], subject: PolicySubject): 'ALLOW' | 'DENY' {
  return policies.every((policy) => policy !== null && allows(policy, subject)) ? 'ALLOW' : 'DENY'
}

function allows(policy: PolicyRecord, subject: PolicySubject): boolean {
  const fired = policy.rules
    .filter((rule) => rule.method === '*' || rule.method === subject.method)
    .filter((rule) => rule.conditions.every((condition) => holds(condition, subject)))
  return fired.length > 0 && fired.every((rule) => rule.action === 'ALLOW')
}

function holds(condition: ConditionRecord, subject: PolicySubject): boolean {
  const actual = readField(condition, subject)
  if (actual === null) return false
  const wanted = typeof condition.value === 'string' ? [condition.value] : condition.value
  const compare = typeof actual === 'bigint' ? compareNumbers : compareTexts
  return wanted.some((value) => compare(condition.operator, actual, value))
}

/**
 * Returns the value that a condition checks. Returns null if the request has no such value, and then the condition is
 * false.
 */
function readField(condition: ConditionRecord, subject: PolicySubject): bigint | string | null {
  if (condition.field_source === 'system') {
    return condition.field === 'current_unix_timestamp' ? subject.nowSeconds : null
  }
  return 'typedData' in subject ? readTypedData(condition, subject.typedData) : readTransaction(condition, subject)
}

function readTransaction(condition: ConditionRecord, subject: TransactionSubject): bigint | string | null {
  const { field_source, field, abi } = condition
  if (field_source === 'ethereum_calldata') return abi === undefined ? null : readCalldata(subject.data, field, abi)
  if (field_source !== 'ethereum_transaction') return null
  if (field === 'to') return subject.to
  if (field === 'value') return subject.value
  return field === 'chain_id' ? subject.chainId : null
}

function readTypedData(condition: ConditionRecord, typedData: TypedData): bigint | string | null {
  const { field_source, field, typed_data } = condition
  if (field_source === 'ethereum_typed_data_domain') return readDomain(typedData, field)
  if (field_source !== 'ethereum_typed_data_message' || typed_data === undefined) return null
  return readMessage(typedData, typed_data, field)
}

/**
 * Reads `function_name`, or an input as `<function>.<input>`, by the names in the condition's own ABI. Returns null if
 * the calldata cannot be decoded with this ABI.
 */
function readCalldata(data: Hex, field: string, abi: Abi): bigint | string | null {
  try {
    // We find the function by its selector, because its name can be ambiguous: overloads have the same name, and only
    // the overload that is called has these inputs.
    const definition = abi.find((item) => item.type === 'function' && toFunctionSelector(item) === data.slice(0, 10))
    if (definition?.type !== 'function') return null
    const { functionName, args } = decodeFunctionData({ abi: [definition], data })
    if (field === 'function_name') return functionName
    const index = definition.inputs.findIndex((input) => `${functionName}.${input.name}` === field)
    const value: unknown = args?.[index]
    if (typeof value === 'bigint' || typeof value === 'string') return value
    return typeof value === 'number' ? BigInt(value) : typeof value === 'boolean' ? String(value) : null
  } catch {
    return null
  }
}

function compareNumbers(operator: ConditionRecord['operator'], actual: bigint | string, value: string): boolean {
  const wanted = parseInteger(value)
  if (wanted === null || typeof actual !== 'bigint') return false
  switch (operator) {
    case 'eq':
    case 'in':
      return actual === wanted
    case 'gt':
      return actual > wanted
    case 'gte':
      return actual >= wanted
    case 'lt':
      return actual < wanted
    case 'lte':
      return actual <= wanted
    default:
      return false
  }
}

/**
 * Compares texts. Strings have no order, so only `eq` and `in` can be true. The case of letters in addresses is
 * ignored.
 */
function compareTexts(operator: ConditionRecord['operator'], actual: bigint | string, value: string): boolean {
  if (typeof actual !== 'string' || (operator !== 'eq' && operator !== 'in')) return false
  const addresses = isAddress(actual, { strict: false }) && isAddress(value, { strict: false })
  return addresses ? actual.toLowerCase() === value.toLowerCase() : actual === value
}

/** Parses decimal digits, or hexadecimal digits after `0x`. Returns null for anything else. */
export function parseInteger(text: string): bigint | null {
  return /^(0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$/.test(text) ? BigInt(text) : null
}
