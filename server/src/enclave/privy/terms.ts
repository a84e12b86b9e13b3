import type { Policy } from '@privy-io/node'
import { AUTHORIZATION_PRIMARY_TYPE, AUTHORIZATION_TYPES } from '../../values/transfer-authorization.ts'
import type { RecordComparison, SlotRules, Terms } from '../enclave.ts'
import { RULE_NAME_CHARS_MAX } from '../rule-name-limit.ts'

export type PolicyRule = Omit<Policy['rules'][number], 'id'>

/** The enclave accepts at most this many values in one condition. */
export const ALLOWLIST_ENTRIES_MAX = 100

const TRANSFER_ABI = [
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
] as const

type Condition = PolicyRule['conditions'][number]

/**
 * Builds the rules of a slot's policy: one for transfers, and one for purchases if the grant allows them. The enclave
 * denies everything that no rule allows. So the signer can make only calls that decode as `transfer` and send no native
 * coin, and can sign only EIP-3009 authorizations of the chain's USDC. The expiry is rounded down to the second, so
 * that the policy never expires later than the grant. `compareWithTerms` recognizes the rules again.
 *
 * All rules have the name `terms.ruleName`. The enclave stores the name and does not interpret it. So the enclave's record
 * says which grant it enforces and what the owner signed beside the rules, even if two grants differ only in what the
 * enclave cannot enforce (D16, D79).
 * @throws RangeError for terms that the enclave cannot enforce, or that would allow nothing or everything.
 */
export function toRules(terms: Terms): PolicyRule[] {
  checkTerms(terms)
  const rule = { name: terms.ruleName, action: 'ALLOW' } as const
  const transfers = { method: 'eth_sendTransaction', conditions: buildTransferConditions(terms) } as const
  const purchases = { method: 'eth_signTypedData_v4', conditions: buildPurchaseConditions(terms) } as const
  return [{ ...rule, ...transfers }, ...(terms.x402 ? [{ ...rule, ...purchases }] : [])]
}

/** Returns the rules as the provider's type. Every list of rules is made by `toRules`, or was read from the enclave. */
export function toPolicyRules(rules: SlotRules): PolicyRule[] {
  return rules as PolicyRule[]
}

function buildTransferConditions(terms: Terms): Condition[] {
  const conditions: Condition[] = [
    { field_source: 'ethereum_transaction', field: 'chain_id', operator: 'eq', value: String(terms.chainId) },
    { field_source: 'ethereum_transaction', field: 'to', operator: 'in', value: [...terms.contractAllowlist] },
    { field_source: 'ethereum_transaction', field: 'value', operator: 'eq', value: '0' },
    calldata('transfer.amount', 'lte', String(terms.maxPerTxMicro)),
  ]
  if (terms.recipientAllowlist.length > 0) {
    conditions.push(calldata('transfer.to', 'in', [...terms.recipientAllowlist]))
  }
  return [...conditions, ...buildExpiryConditions(terms)]
}

/**
 * The enclave makes sure that no authorization can be used after the grant has expired. It cannot limit the time for
 * which each authorization can be used, or how much is signed in 24 hours. The service limits these (D67).
 */
function buildPurchaseConditions(terms: Terms): Condition[] {
  const { chainId, usdc, maxPerTxMicro, recipientAllowlist, expiresAt } = terms
  return [
    { field_source: 'ethereum_typed_data_domain', field: 'chainId', operator: 'eq', value: String(chainId) },
    { field_source: 'ethereum_typed_data_domain', field: 'verifyingContract', operator: 'eq', value: usdc },
    message('value', 'lte', String(maxPerTxMicro)),
    ...(recipientAllowlist.length > 0 ? [message('to', 'in', [...recipientAllowlist])] : []),
    ...(expiresAt === null ? [] : [message('validBefore', 'lte', toSeconds(expiresAt))]),
    ...buildExpiryConditions(terms),
  ]
}

function buildExpiryConditions({ expiresAt }: Terms): Condition[] {
  if (expiresAt === null) return []
  return [{ field_source: 'system', field: 'current_unix_timestamp', operator: 'lt', value: toSeconds(expiresAt) }]
}

function toSeconds(time: Date): string {
  return String(Math.floor(time.getTime() / 1000))
}

/**
 * The condition contains the types of the typed data. The enclave allows only requests with exactly these types, in the
 * same order and without `EIP712Domain`.
 */
function message(field: string, operator: 'lte' | 'in', value: string | string[]): Condition {
  const members = AUTHORIZATION_TYPES.TransferWithAuthorization.map((member) => ({ ...member }))
  const typed_data = { primary_type: AUTHORIZATION_PRIMARY_TYPE, types: { TransferWithAuthorization: members } }
  return { field_source: 'ethereum_typed_data_message', field, typed_data, operator, value }
}

function calldata(field: string, operator: 'lte' | 'in', value: string | string[]): Condition {
  return { field_source: 'ethereum_calldata', field, abi: structuredClone(TRANSFER_ABI), operator, value }
}

function checkTerms(terms: Terms): void {
  const { ruleName, chainId, maxPerTxMicro, recipientAllowlist, contractAllowlist, expiresAt } = terms
  if (ruleName === '' || ruleName.length > RULE_NAME_CHARS_MAX) {
    throw new RangeError(`the name of a rule has 1 to ${RULE_NAME_CHARS_MAX} characters`)
  }
  if (!Number.isSafeInteger(chainId) || chainId <= 0) throw new RangeError('a policy needs a chain')
  if (maxPerTxMicro <= 0n) throw new RangeError('a policy needs a positive cap')
  if (contractAllowlist.length === 0) throw new RangeError('a policy needs a contract')
  if (Math.max(contractAllowlist.length, recipientAllowlist.length) > ALLOWLIST_ENTRIES_MAX) {
    throw new RangeError(`an allowlist of a policy holds at most ${ALLOWLIST_ENTRIES_MAX} addresses`)
  }
  if (expiresAt !== null && Number.isNaN(expiresAt.getTime())) throw new RangeError('a policy needs a valid expiry')
}

/** Members that only describe a rule or condition. Any other unknown member may change what the rule allows. */
const DESCRIBING_MEMBERS = {
  rule: ['id', 'name', 'description', 'created_at', 'updated_at'],
  condition: ['id', 'description', 'created_at', 'updated_at'],
} as const
const KNOWN_MEMBERS = {
  rule: ['id', 'name', 'method', 'action', 'conditions'],
  condition: ['field_source', 'field', 'operator', 'value', 'abi', 'typed_data'],
} as const

type Level = keyof typeof KNOWN_MEMBERS

/**
 * Compares the rules that the enclave has stored with `terms`: they must allow exactly what the terms allow (D15). Some
 * differences have no effect at the enclave and are ignored: ids, names, the order of conditions and of addresses, the
 * case of addresses, and the notation of numbers.
 *
 * The provider may add members over time. We ignore a new member if it is null or only describes its rule or condition.
 * Any other unknown member counts as a difference, because it could let the signer do more than the owner has signed.
 * For example, it could negate or disable a condition, or change how conditions are combined.
 */
export function compareWithTerms(rules: readonly unknown[], terms: Terms): RecordComparison {
  return compareRules(rules, toRules(terms))
}

/** Compares the rules that the enclave has stored with the rules that it should have, as `compareWithTerms` does. */
export function compareRules(rules: readonly unknown[], wanted: readonly unknown[]): RecordComparison {
  const stored = rules.map(normalizeRule)
  const expected = wanted.map(normalizeRule)
  const differences =
    stored.length === expected.length
      ? stored.flatMap((rule, index) => compareRule(rule, expected[index] as NormalRule, `rules[${index}]`))
      : [`${stored.length} rules instead of ${expected.length}`]
  return { differences, ignored: rules.flatMap((rule, index) => listIgnored(rule, `rules[${index}]`)) }
}

/** Returns whether two lists of rules mean the same and have the same names. */
export function sameRules(left: SlotRules, right: SlotRules): boolean {
  return (
    compareRules(left, right).differences.length === 0 && left.every((rule, index) => rule.name === right[index]?.name)
  )
}

interface NormalRule {
  readonly members: ReadonlyMap<string, string>
  readonly conditions: readonly { readonly field: string; readonly text: string }[]
}

function compareRule(stored: NormalRule, expected: NormalRule, path: string): string[] {
  const names = [...new Set([...stored.members.keys(), ...expected.members.keys()])]
  const members = names.filter((name) => stored.members.get(name) !== expected.members.get(name))
  const [storedTexts, expectedTexts] = [stored, expected].map(({ conditions }) => conditions.map(({ text }) => text))
  const fields = [
    ...stored.conditions.filter(({ text }) => !expectedTexts?.includes(text)),
    ...expected.conditions.filter(({ text }) => !storedTexts?.includes(text)),
  ].map(({ field }) => field)
  const differences = [
    ...members.map((name) => `${path}.${name}`),
    ...[...new Set(fields)].map((field) => `${path}.conditions on ${field}`),
  ]
  // If both rules have the same texts, but not equally many conditions, one of them has a condition twice.
  const hasDuplicate = differences.length === 0 && stored.conditions.length !== expected.conditions.length
  return hasDuplicate ? [`${path}.conditions`] : differences
}

function listIgnored(rule: unknown, path: string): string[] {
  const conditions = toList(toRecord(rule)['conditions'])
  const ofConditions = conditions.flatMap((one, index) => ignoredAt('condition', one, `${path}.conditions[${index}]`))
  return [...ignoredAt('rule', rule, path), ...ofConditions]
}

function ignoredAt(level: Level, value: unknown, path: string): string[] {
  const known: readonly string[] = KNOWN_MEMBERS[level]
  return Object.entries(toRecord(value))
    .filter(([name, member]) => !known.includes(name) && !counts(level, name, member))
    .map(([name]) => `${path}.${name}`)
}

/** Returns whether a member changes what is allowed, or may change it. */
function counts(level: Level, name: string, member: unknown): boolean {
  const describing: readonly string[] = DESCRIBING_MEMBERS[level]
  return member !== null && member !== undefined && !describing.includes(name)
}

/** Returns the members that change what is allowed, or may change it. */
function pickCounting(level: Level, value: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(toRecord(value)).filter(([name, member]) => counts(level, name, member)))
}

function normalizeRule(rule: unknown): NormalRule {
  const { conditions, ...rest } = pickCounting('rule', rule)
  return {
    members: new Map(Object.entries(rest).map(([name, member]) => [name, toText(member)])),
    conditions: toList(conditions).map(normalizeCondition),
  }
}

function normalizeCondition(condition: unknown): { field: string; text: string } {
  const { value, abi, ...rest } = pickCounting('condition', condition)
  const values = Array.isArray(value) ? value.map(normalizeValue).toSorted() : normalizeValue(value)
  const text = toText([rest, values, abi === undefined ? null : toList(abi).map(normalizeAbiItem)])
  return { field: String(rest['field']), text }
}

/**
 * Keeps the members of an ABI item that decide which calls it decodes. The types of the return values do not matter.
 */
function normalizeAbiItem(item: unknown): unknown {
  const { type, name, inputs } = toRecord(item)
  return [type, name, toList(inputs).map((input) => [toRecord(input)['name'], toRecord(input)['type']])]
}

function normalizeValue(value: unknown): string {
  if (typeof value !== 'string') return toText(value)
  if (/^0x[0-9a-f]{40}$/i.test(value)) return value.toLowerCase()
  return /^([0-9]+|0x[0-9a-f]+)$/i.test(value) ? BigInt(value).toString() : JSON.stringify(value)
}

/** JSON with sorted members: rules that were stored in the database come back with their members in another order. */
function toText(value: unknown): string {
  const sort = (_: string, member: unknown): unknown =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member
  return JSON.stringify(value, sort) ?? 'undefined'
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : { value }
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value]
}
