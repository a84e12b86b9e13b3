import { toFunctionSelector } from 'viem/utils'
import type { EnclaveContext } from './context.ts'
import { parseInteger } from './decide-policy.ts'
import { invalidPolicy, notFound } from './errors.ts'
import { resolveOwnerId } from './quorums.ts'
import type { ConditionRecord, PolicyRecord, RuleRecord } from './records.ts'
import { createResourceId } from './resource-id.ts'
import type { CreatePolicyBody, RuleInput, UpdatePolicyBody } from './schemas.ts'
import type { Store } from './store.ts'
import { findMemberType, isInteger } from './typed-data.ts'

const DECIMAL_PATTERN = /^[0-9]{1,20}$/
const DOMAIN_FIELDS: Readonly<Record<string, 'decimal' | 'text'>> = {
  chainId: 'decimal',
  chain_id: 'decimal',
  verifyingContract: 'text',
  verifying_contract: 'text',
}
const ORDER_OPERATORS = new Set(['gt', 'gte', 'lt', 'lte'])
/**
 * The provider requires a condition in rules for these methods, because without one they would allow signing anything.
 */
const CONDITIONED_METHODS = new Set(['eth_sendTransaction', 'eth_signTransaction'])

export function createPolicy(context: EnclaveContext, body: CreatePolicyBody): PolicyRecord {
  const { store, clock, readLag } = context
  const policy: PolicyRecord = {
    id: createResourceId(),
    version: '1.0',
    name: body.name,
    chain_type: 'ethereum',
    rules: parseRules(body.rules),
    owner_id: resolveOwnerId(context, body) ?? null,
    created_at: clock.nowMs(),
  }
  store.putPolicy(policy)
  readLag.remember(policy.id, null)
  return policy
}

export function getPolicy(store: Store, id: string): PolicyRecord {
  const policy = store.findPolicy(id)
  if (policy === null) throw notFound('Policy')
  return policy
}

/** Changes those members of the policy that the body contains. `rules` in the body replaces all rules of the policy. */
export function updatePolicy(context: EnclaveContext, policy: PolicyRecord, body: UpdatePolicyBody): PolicyRecord {
  const { store, readLag } = context
  const ownerId = resolveOwnerId(context, body)
  const updated: PolicyRecord = {
    ...policy,
    name: body.name ?? policy.name,
    rules: body.rules === undefined ? policy.rules : parseRules(body.rules),
    owner_id: ownerId === undefined ? policy.owner_id : ownerId,
  }
  store.putPolicy(updated)
  readLag.remember(policy.id, policy)
  return updated
}

function parseRules(rules: readonly RuleInput[]): RuleRecord[] {
  return rules.map((rule, index) => {
    const at = `rules[${index}]`
    if (rule.conditions.length === 0 && CONDITIONED_METHODS.has(rule.method)) {
      throw invalidPolicy(`A rule for ${rule.method} must have at least one condition at "${at}.conditions"`)
    }
    rule.conditions.forEach((condition, nth) => checkCondition(condition, `${at}.conditions[${nth}]`))
    return { ...rule, id: rule.id ?? createResourceId() }
  })
}

/** Rejects a condition that could never be true, or whose value is ambiguous. */
function checkCondition(condition: ConditionRecord, at: string): void {
  const values = typeof condition.value === 'string' ? [condition.value] : condition.value
  if (Array.isArray(condition.value) !== (condition.operator === 'in')) {
    throw invalidPolicy(`The value must be a list for "in", and one string for any other operator at "${at}.value"`)
  }
  if (condition.field_source === 'ethereum_calldata') {
    checkCalldataField(condition, at)
  } else if (condition.abi !== undefined) {
    throw invalidPolicy(`Unrecognized key(s) in object: 'abi' at "${at}"`)
  }
  const isOnMessage = condition.field_source === 'ethereum_typed_data_message'
  if (isOnMessage !== (condition.typed_data !== undefined)) {
    throw invalidPolicy(`${isOnMessage ? 'Required' : 'Unrecognized key'} at "${at}.typed_data"`)
  }
  const kind = findValueKind(condition)
  if (kind === null) throw invalidPolicy(`Invalid field for ${condition.field_source} at "${at}.field"`)
  if (kind === 'decimal' && !values.every((value) => DECIMAL_PATTERN.test(value))) {
    throw invalidPolicy(`The value must be a decimal string at "${at}.value"`)
  }
  const ordered = ORDER_OPERATORS.has(condition.operator)
  if ((kind === 'integer' || ordered) && !values.every((value) => parseInteger(value) !== null)) {
    throw invalidPolicy(`The value must be an integer at "${at}.value"`)
  }
  if (kind === 'text' && ordered) throw invalidPolicy(`Invalid operator for ${condition.field} at "${at}.operator"`)
}

function findValueKind(condition: ConditionRecord): 'decimal' | 'integer' | 'text' | 'any' | null {
  const { field_source, field, typed_data } = condition
  if (field_source === 'ethereum_typed_data_domain') return DOMAIN_FIELDS[field] ?? null
  if (field_source === 'ethereum_typed_data_message') {
    const type = typed_data === undefined ? null : findMemberType(typed_data, field)
    return type === null ? null : isInteger(type) ? 'integer' : 'text'
  }
  if (field_source === 'ethereum_calldata') return field === 'function_name' ? 'text' : 'any'
  if (field_source === 'system') return field === 'current_unix_timestamp' ? 'decimal' : null
  const kinds = { to: 'text', value: 'integer', chain_id: 'decimal' } as const
  return field === 'to' || field === 'value' || field === 'chain_id' ? kinds[field] : null
}

/** Checks that `field` is `function_name`, or refers to an input of a function in the condition's own ABI. */
function checkCalldataField({ field, abi }: ConditionRecord, at: string): void {
  if (abi === undefined) throw invalidPolicy(`Required at "${at}.abi"`)
  const functions = abi.flatMap((item) => (item.type === 'function' ? item : []))
  try {
    functions.forEach((item) => toFunctionSelector(item))
  } catch {
    throw invalidPolicy(`Invalid ABI at "${at}.abi"`)
  }
  const fields = functions.flatMap((item) => item.inputs.map((input) => `${item.name}.${input.name}`))
  if (field !== 'function_name' && !fields.includes(field)) {
    throw invalidPolicy(`The ABI has no such field at "${at}.field"`)
  }
}
