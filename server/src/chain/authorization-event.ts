import type { Hash } from 'viem'
import { encodeEventTopics, parseAbi } from 'viem/utils'
import { parseAddress, type Address } from '../values/address.ts'
import { isRecord } from './json-rpc.ts'

const abi = parseAbi([
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
])

/** The first topics of the two events that end an EIP-3009 authorization. */
export const USED_TOPIC = encodeEventTopics({ abi, eventName: 'AuthorizationUsed' })[0]
export const CANCELED_TOPIC = encodeEventTopics({ abi, eventName: 'AuthorizationCanceled' })[0]

/** Names an EIP-3009 authorization. The contract accepts each pair once. */
export type AuthorizationKey = { readonly authorizer: Address; readonly nonce: Hash }

export type AuthorizationEvent = AuthorizationKey & {
  readonly kind: 'used' | 'canceled'
  /**
   * The contract that emitted the event. The caller must check it, because any contract can emit events that look the
   * same.
   */
  readonly contract: Address
}

const WORD_PATTERN = /^0x[0-9a-f]{64}$/
const ADDRESS_WORD_PATTERN = /^0x0{24}[0-9a-f]{40}$/
const ADDRESS_CHARS = 40

/** Parses a log that says how an authorization ended. Returns null for any other log. */
export function parseAuthorizationLog(log: unknown): AuthorizationEvent | null {
  if (!isRecord(log) || !Array.isArray(log['topics'])) return null
  const topics: readonly string[] = log['topics'].map(lower)
  const [topic, word = '', nonce = ''] = topics
  if (topic !== USED_TOPIC && topic !== CANCELED_TOPIC) return null
  if (topics.length !== 3 || !ADDRESS_WORD_PATTERN.test(word) || !WORD_PATTERN.test(nonce)) return null
  const authorizer = parseAddress(`0x${word.slice(-ADDRESS_CHARS)}`)
  const contract = parseAddress(lower(log['address']))
  if (authorizer === null || contract === null) return null
  return { kind: topic === USED_TOPIC ? 'used' : 'canceled', contract, authorizer, nonce: nonce as Hash }
}

function lower(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : ''
}
