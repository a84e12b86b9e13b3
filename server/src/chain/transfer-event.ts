import { encodeEventTopics } from 'viem/utils'
import { parseAddress, type Address } from '../values/address.ts'
import { erc20Abi } from '../values/erc20.ts'
import { microUsdc } from '../values/money.ts'
import type { Transfer } from './parse-receipt.ts'

/** The first topic of `Transfer(address,address,uint256)`. */
export const TRANSFER_TOPIC = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer' })[0]

const WORD_PATTERN = /^0x[0-9a-f]{64}$/
const ADDRESS_WORD_PATTERN = /^0x0{24}[0-9a-f]{40}$/
/** Where the digits of the address begin in a word of 32 bytes, written as hex. */
const ADDRESS_START = 26

/**
 * Decodes an ERC-20 Transfer event. Returns null for any other event. An ERC-721 Transfer has the same name and first
 * topic, but four topics and no data. We do not use viem's decoder, because it hashes the event's name again for each
 * of thousands of logs.
 */
export function decodeTransferEvent(log: Readonly<Record<string, unknown>>): Transfer | null {
  const topics = Array.isArray(log['topics']) ? (log['topics'] as unknown[]).map(lower) : []
  const [topic, from = '', to = ''] = topics
  const data = lower(log['data'])
  if (topics.length !== 3 || topic !== TRANSFER_TOPIC || !WORD_PATTERN.test(data)) return null
  if (!ADDRESS_WORD_PATTERN.test(from) || !ADDRESS_WORD_PATTERN.test(to)) return null
  const contract = parseAddress(lower(log['address']))
  const [payer, payee] = [parseWord(from), parseWord(to)]
  if (contract === null || payer === null || payee === null) return null
  return { contract, from: payer, to: payee, amountMicro: microUsdc(BigInt(data)) }
}

/** Formats an address as an event topic, a word of 32 bytes. */
export function formatAddressTopic(address: Address): string {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}

function parseWord(word: string): ReturnType<typeof parseAddress> {
  return parseAddress(`0x${word.slice(ADDRESS_START)}`)
}

function lower(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : ''
}
