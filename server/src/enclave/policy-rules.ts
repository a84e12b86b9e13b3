import type { Policy } from '@privy-io/node'
import type { Address } from '../values/address.ts'
import type { MicroUsdc } from '../values/money.ts'

/** What a grant lets the agent's signer do, as far as the enclave can hold it to that. */
export type PolicyTerms = {
  readonly chainId: number
  readonly maxPerTxMicro: MicroUsdc
  /** Empty means any recipient (D14). */
  readonly recipientAllowlist: readonly Address[]
  readonly contractAllowlist: readonly Address[]
  readonly expiresAt: Date | null
}

export type PolicyRule = Omit<Policy['rules'][number], 'id'>

/** The enclave takes no more values in one condition. */
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
 * The one rule of a grant's policy. The enclave denies whatever no rule allows, so this is all that the signer can do: a
 * call of `transfer` that decodes as such, without native value. The expiry is rounded down to the second, so that it
 * never comes late.
 * @throws RangeError for terms that the enclave can't hold, or that would allow nothing or anything.
 */
export function buildPolicyRules(terms: PolicyTerms): PolicyRule[] {
  checkTerms(terms)
  const conditions: Condition[] = [
    { field_source: 'ethereum_transaction', field: 'chain_id', operator: 'eq', value: String(terms.chainId) },
    { field_source: 'ethereum_transaction', field: 'to', operator: 'in', value: [...terms.contractAllowlist] },
    { field_source: 'ethereum_transaction', field: 'value', operator: 'eq', value: '0' },
    calldata('transfer.amount', 'lte', String(terms.maxPerTxMicro)),
  ]
  if (terms.recipientAllowlist.length > 0) {
    conditions.push(calldata('transfer.to', 'in', [...terms.recipientAllowlist]))
  }
  if (terms.expiresAt !== null) {
    const value = String(Math.floor(terms.expiresAt.getTime() / 1000))
    conditions.push({ field_source: 'system', field: 'current_unix_timestamp', operator: 'lt', value })
  }
  return [{ name: 'USDC transfers within the grant', method: 'eth_sendTransaction', action: 'ALLOW', conditions }]
}

function calldata(field: string, operator: 'lte' | 'in', value: string | string[]): Condition {
  return { field_source: 'ethereum_calldata', field, abi: structuredClone(TRANSFER_ABI), operator, value }
}

function checkTerms({ chainId, maxPerTxMicro, recipientAllowlist, contractAllowlist, expiresAt }: PolicyTerms): void {
  if (!Number.isSafeInteger(chainId) || chainId <= 0) throw new RangeError('a policy needs a chain')
  if (maxPerTxMicro <= 0n) throw new RangeError('a policy needs a positive cap')
  if (contractAllowlist.length === 0) throw new RangeError('a policy needs a contract')
  if (Math.max(contractAllowlist.length, recipientAllowlist.length) > ALLOWLIST_ENTRIES_MAX) {
    throw new RangeError(`an allowlist of a policy holds at most ${ALLOWLIST_ENTRIES_MAX} addresses`)
  }
  if (expiresAt !== null && Number.isNaN(expiresAt.getTime())) throw new RangeError('a policy needs a valid expiry')
}

/**
 * Whether the rules that the enclave holds mean exactly `terms`, no more and no less (D15, read back and compared).
 * Ids, names, the order of conditions and of listed addresses, the case of addresses and the writing of numbers mean
 * nothing to the enclave, and are not compared; anything that is not understood is a difference.
 */
export function policyMatches(rules: readonly unknown[], terms: PolicyTerms): boolean {
  return JSON.stringify(rules.map(normalizeRule)) === JSON.stringify(buildPolicyRules(terms).map(normalizeRule))
}

function normalizeRule(rule: unknown): unknown {
  const { id: _id, name: _name, conditions, ...rest } = toRecord(rule)
  return [sortMembers(rest), toList(conditions).map(normalizeCondition).toSorted()]
}

function normalizeCondition(condition: unknown): string {
  const { value, abi, ...rest } = toRecord(condition)
  const values = Array.isArray(value) ? value.map(normalizeValue).toSorted() : normalizeValue(value)
  return JSON.stringify([sortMembers(rest), values, abi === undefined ? null : toList(abi).map(normalizeAbiItem)])
}

/** What an ABI item decodes is told by these; what the call returns, and how, plays no part. */
function normalizeAbiItem(item: unknown): unknown {
  const { type, name, inputs } = toRecord(item)
  return [type, name, toList(inputs).map((input) => [toRecord(input)['name'], toRecord(input)['type']])]
}

function normalizeValue(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'undefined'
  if (/^0x[0-9a-f]{40}$/i.test(value)) return value.toLowerCase()
  return /^([0-9]+|0x[0-9a-f]+)$/i.test(value) ? BigInt(value).toString() : JSON.stringify(value)
}

function sortMembers(record: Record<string, unknown>): unknown {
  return Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : { value }
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value]
}
