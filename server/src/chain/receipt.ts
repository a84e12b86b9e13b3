import type { Hash } from 'viem'
import { parseAddress, type Address } from '../values/address.ts'
import { microUsdc, type MicroUsdc } from '../values/money.ts'
import { NodeFault } from './errors.ts'
import { isRecord } from './json-rpc.ts'
import { parseQuantity } from './quantity.ts'

export type Transfer = {
  readonly contract: Address
  readonly from: Address
  readonly to: Address
  readonly amountMicro: MicroUsdc
}

export type Receipt = {
  readonly blockNumber: bigint
  readonly blockHash: Hash
  readonly status: 'success' | 'reverted'
  /** The ERC-20 Transfer events of the transaction, of any contract, in order. Other events are left out. */
  readonly transfers: readonly Transfer[]
}

/** keccak256 of `Transfer(address,address,uint256)` (ERC-20). */
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const HASH_PATTERN = /^0x[0-9a-f]{64}$/
const ADDRESS_WORD_PATTERN = /^0x0{24}[0-9a-f]{40}$/

/**
 * Reads one answer of `eth_getTransactionReceipt`. Null means not mined, so null too while a node knows no block for it.
 * @throws NodeFault when the answer is not a receipt of `hash`.
 */
export function parseReceipt(hash: Hash, answer: unknown): Receipt | null {
  if (answer === null) return null
  if (!isRecord(answer) || lower(answer['transactionHash']) !== hash.toLowerCase()) throw garbage()
  if (answer['blockNumber'] === null) return null
  const logs = answer['logs']
  if (!Array.isArray(logs)) throw garbage()
  return {
    blockNumber: parseQuantity(answer['blockNumber']),
    blockHash: parseHash(answer['blockHash']),
    status: parseStatus(answer['status']),
    transfers: logs.flatMap(parseTransfer),
  }
}

function parseStatus(value: unknown): Receipt['status'] {
  if (value === '0x1') return 'success'
  if (value === '0x0') return 'reverted'
  throw garbage()
}

function parseHash(value: unknown): Hash {
  const hash = lower(value)
  if (!HASH_PATTERN.test(hash)) throw garbage()
  return hash as Hash
}

/** ERC-721 shares the topic, but has four topics and no data. */
function parseTransfer(log: unknown): Transfer[] {
  if (!isRecord(log) || !Array.isArray(log['topics'])) throw garbage()
  const [topic, from, to, ...more] = log['topics'] as unknown[]
  const data = lower(log['data'])
  if (lower(topic) !== TRANSFER_TOPIC || more.length > 0 || !HASH_PATTERN.test(data)) return []
  const transfer = {
    contract: parseAddress(lower(log['address'])),
    from: parseAddressWord(from),
    to: parseAddressWord(to),
    amountMicro: microUsdc(BigInt(data)),
  }
  const { contract, from: sender, to: recipient } = transfer
  if (contract === null || sender === null || recipient === null) return []
  return [{ contract, from: sender, to: recipient, amountMicro: transfer.amountMicro }]
}

function parseAddressWord(value: unknown): Address | null {
  const word = lower(value)
  return ADDRESS_WORD_PATTERN.test(word) ? parseAddress(`0x${word.slice(26)}`) : null
}

function lower(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : ''
}

function garbage(): NodeFault {
  return new NodeFault('answered with no receipt')
}
