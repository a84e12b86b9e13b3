import type { Hash } from 'viem'
import { parseAddress, type Address } from '../values/address.ts'
import { isRecord } from './json-rpc.ts'

/**
 * The EntryPoint contracts of ERC-4337, versions 0.6 to 0.9. Each has the same address on every chain. Any contract can
 * emit events that look the same, so events of other contracts are ignored.
 */
export const ENTRY_POINTS: readonly string[] = [
  '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789',
  '0x0000000071727de22e5e9d8baf0edac6f37da032',
  '0x4337084d9e255ff0702461cf8895ce9e3b5ff108',
  '0x433709009b8330fda32311df1c2afa402ed8d009',
]

/**
 * `UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce,
 * bool success, uint256 actualGasCost, uint256 actualGasUsed)`
 */
export const USER_OPERATION_TOPIC = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'
/** `BeforeExecution()` */
const BEFORE_EXECUTION_TOPIC = '0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972'

const WORD_PATTERN = /^0x[0-9a-f]{64}$/
const ADDRESS_WORD_PATTERN = /^0x0{24}[0-9a-f]{40}$/
const ADDRESS_CHARS = 40
/** The data of a `UserOperationEvent`: `0x`, then four words of 64 hex digits. */
const DATA_PATTERN = /^0x[0-9a-f]{256}$/
const SUCCESS_WORD_START = 2 + 64
const WORD_CHARS = 64

export type OperationLog =
  /** `sender` is the wallet for which the operation acts. */
  | { readonly kind: 'operation'; readonly hash: Hash; readonly sender: Address; readonly isSuccess: boolean }
  /** Marks where a bundle begins to run its operations. */
  | { readonly kind: 'before_execution' }

/**
 * Parses a log of an EntryPoint contract that marks the end of an operation, or the start of a bundle of operations.
 * Returns null for any other log.
 */
export function parseOperationLog(log: unknown): OperationLog | null {
  if (!isRecord(log) || !Array.isArray(log['topics']) || !ENTRY_POINTS.includes(lower(log['address']))) return null
  const topics: readonly string[] = log['topics'].map(lower)
  if (topics[0] === BEFORE_EXECUTION_TOPIC) return { kind: 'before_execution' }
  const data = lower(log['data'])
  const [topic, hash = '', senderWord = ''] = topics
  const sender = ADDRESS_WORD_PATTERN.test(senderWord) ? parseAddress(`0x${senderWord.slice(-ADDRESS_CHARS)}`) : null
  if (topic !== USER_OPERATION_TOPIC || !WORD_PATTERN.test(hash) || !DATA_PATTERN.test(data) || sender === null)
    return null
  const success = data.slice(SUCCESS_WORD_START, SUCCESS_WORD_START + WORD_CHARS)
  return { kind: 'operation', hash: hash as Hash, sender, isSuccess: BigInt(`0x${success}`) === 1n }
}

function lower(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : ''
}
