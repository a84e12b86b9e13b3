import type { Hash, Hex } from 'viem'
import { entryPointAddress } from '../chain/account-contracts.ts'
import { postToNode } from '../chain/post-to-node.ts'
import { CHAIN_BATCH_MAX, CHAIN_TIMEOUT_MS, SIMULATIONS_MAX } from './limits.ts'

/** Thrown if the node understood the call and rejected it. */
export class ChainRefusal extends Error {
  override readonly name = 'ChainRefusal'
}

/**
 * Thrown if there is no response, or one that is not JSON-RPC. The node may or may not have executed the call.
 */
class ChainUnreachable extends Error {
  override readonly name = 'ChainUnreachable'
}

export interface ChainCall {
  readonly method: string
  readonly params: readonly unknown[]
}

export interface BlockMark {
  readonly number: number
  readonly hash: Hash
}

export interface MinedReceipt {
  readonly blockNumber: number
  readonly succeeded: boolean
  /** For each user operation in the transaction, by hash: whether it succeeded. */
  readonly operations: ReadonlyMap<Hash, boolean>
}

/** The transaction that executed a user operation. */
export interface LandedOperation {
  readonly hash: Hash
  readonly blockNumber: number
  readonly succeeded: boolean
}

interface RpcLog {
  readonly address?: string
  readonly topics?: readonly string[]
  readonly data?: string
  readonly transactionHash?: Hash
  readonly blockNumber?: string
}

/** The topic of `UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)`. */
const OPERATION_TOPIC = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'
/** The part of the event's data that contains `success`: the second word of 64 hexadecimal digits after the `0x`. */
const SUCCESS_WORD = { start: 2 + 64, end: 2 + 128 } as const

export type ChainNode = ReturnType<typeof createChainNode>

interface RpcAnswer {
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: { readonly message?: string }
}

/**
 * Creates a JSON-RPC client of one local node. It has only the calls that the enclave makes. Each call has a time
 * limit.
 */
export function createChainNode(url: string) {
  let lastId = 0
  const runSimulation = limitConcurrency(SIMULATIONS_MAX)

  async function callMany(calls: readonly ChainCall[]): Promise<RpcAnswer[]> {
    const answers: RpcAnswer[] = []
    for (let start = 0; start < calls.length; start += CHAIN_BATCH_MAX) {
      const requests = calls
        .slice(start, start + CHAIN_BATCH_MAX)
        .map((call) => ({ jsonrpc: '2.0', id: (lastId += 1), ...call }))
      const received = await post(url, requests.length === 1 ? requests[0] : requests)
      const byId = new Map(
        (Array.isArray(received) ? (received as RpcAnswer[]) : [received as RpcAnswer]).map((answer) => [
          answer.id,
          answer,
        ]),
      )
      for (const { id } of requests) {
        const answer = byId.get(id)
        if (answer === undefined) throw new ChainUnreachable('The node left a call unanswered.')
        answers.push(answer)
      }
    }
    return answers
  }

  async function call(method: string, params: readonly unknown[]): Promise<unknown> {
    const [answer] = await callMany([{ method, params }])
    if (answer?.error !== undefined) throw new ChainRefusal(answer.error.message ?? 'no reason given')
    return answer?.result
  }

  return {
    /** Simulates the transaction after the latest block, and returns its gas. Throws `ChainRefusal` if it reverts. */
    estimateGas: async (tx: { from: string; to: string; data: Hex; value: Hex }): Promise<bigint> =>
      await runSimulation(async () => BigInt(String(await call('eth_estimateGas', [tx, 'latest'])))),
    getBalance: async (address: string): Promise<bigint> =>
      BigInt(String(await call('eth_getBalance', [address, 'latest']))),
    /** Returns the accounts' code as it will be after the pending transactions. */
    async listCodes(addresses: readonly string[]): Promise<string[]> {
      const calls = addresses.map((address) => ({ method: 'eth_getCode', params: [address, 'pending'] }))
      return (await callMany(calls)).map(({ result }) => String(result))
    },
    /** Returns the transaction that executed the user operation, or null. */
    async findOperation(operationHash: Hash): Promise<LandedOperation | null> {
      const filter = { fromBlock: '0x0', address: entryPointAddress, topics: [OPERATION_TOPIC, operationHash] }
      const logs = await call('eth_getLogs', [filter])
      const log = Array.isArray(logs) ? (logs.at(-1) as RpcLog | undefined) : undefined
      if (log?.transactionHash === undefined) return null
      return { hash: log.transactionHash, blockNumber: Number(log.blockNumber), succeeded: hasSucceeded(log) }
    },
    /**
     * Returns the number of the wallet's mined transactions. This number is the wallet's next nonce according to the
     * chain.
     */
    countTransactions: async (address: string): Promise<number> =>
      Number(await call('eth_getTransactionCount', [address, 'latest'])),
    async countManyTransactions(addresses: readonly string[]): Promise<(number | null)[]> {
      const calls = addresses.map((address) => ({ method: 'eth_getTransactionCount', params: [address, 'latest'] }))
      return (await callMany(calls)).map(({ result }) => (typeof result === 'string' ? Number(result) : null))
    },
    /** Sends a signed transaction. Succeeds if the node already has it. */
    async broadcast(raw: Hex): Promise<void> {
      const [answer] = await callMany([{ method: 'eth_sendRawTransaction', params: [raw] }])
      const refusal = answer?.error?.message
      if (answer?.error !== undefined && !isKnown(refusal)) throw new ChainRefusal(refusal ?? 'no reason given')
    },
    /**
     * Sends transactions again. For each one, returns the message of the node's rejection, or null if the node accepted
     * it or already has it.
     */
    async rebroadcast(raws: readonly Hex[]): Promise<(string | null)[]> {
      const answers = await callMany(raws.map((raw) => ({ method: 'eth_sendRawTransaction', params: [raw] })))
      return answers.map(({ error }) => (error === undefined || isKnown(error.message) ? null : (error.message ?? '')))
    },
    async findReceipts(hashes: readonly Hash[]): Promise<(MinedReceipt | null)[]> {
      const answers = await callMany(hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })))
      return answers.map(({ result }) => parseReceipt(result))
    },
    /** Returns the chain's head, and the hash of its current block at `height`, if there is one. */
    async readHead(height: number | null): Promise<{ head: BlockMark; hashAtHeight: Hash | null }> {
      const tags = ['latest', ...(height === null ? [] : [`0x${height.toString(16)}`])]
      const calls = tags.map((tag) => ({ method: 'eth_getBlockByNumber', params: [tag, false] }))
      const [latest, known] = (await callMany(calls)).map(({ result }) => parseBlock(result))
      if (latest === null || latest === undefined) throw new ChainUnreachable('The node has no head block.')
      return { head: latest, hashAtHeight: known?.hash ?? null }
    },
  }
}

async function post(url: string, body: unknown): Promise<unknown> {
  try {
    const answer = await postToNode(url, body, CHAIN_TIMEOUT_MS)
    if (typeof answer !== 'object' || answer === null) throw new Error('the response is not an object')
    return answer
  } catch (error) {
    throw new ChainUnreachable('The chain cannot be reached.', { cause: error })
  }
}

function isKnown(message: string | undefined): boolean {
  return /already (imported|known)/i.test(message ?? '')
}

function parseReceipt(value: unknown): MinedReceipt | null {
  if (typeof value !== 'object' || value === null) return null
  const { blockNumber, status, logs } = value as { blockNumber?: unknown; status?: unknown; logs?: unknown }
  if (typeof blockNumber !== 'string') return null
  const operations = new Map<Hash, boolean>()
  for (const log of Array.isArray(logs) ? (logs as RpcLog[]) : []) {
    const [topic, operationHash] = log.topics ?? []
    if (topic !== OPERATION_TOPIC || log.address?.toLowerCase() !== entryPointAddress.toLowerCase()) continue
    operations.set(operationHash as Hash, hasSucceeded(log))
  }
  return { blockNumber: Number(blockNumber), succeeded: status === '0x1', operations }
}

function hasSucceeded({ data = '' }: RpcLog): boolean {
  return BigInt(`0x${data.slice(SUCCESS_WORD.start, SUCCESS_WORD.end)}`) === 1n
}

function parseBlock(value: unknown): BlockMark | null {
  if (typeof value !== 'object' || value === null) return null
  const { number, hash } = value as { number?: unknown; hash?: unknown }
  return typeof number === 'string' && typeof hash === 'string' ? { number: Number(number), hash: hash as Hash } : null
}

/** Runs at most `workMax` jobs at a time. Further jobs wait in order of arrival. */
function limitConcurrency(workMax: number) {
  const waiting: (() => void)[] = []
  let running = 0
  return async function runLimited<T>(work: () => Promise<T>): Promise<T> {
    if (running >= workMax) await new Promise<void>((resolve) => void waiting.push(resolve))
    else running += 1
    try {
      return await work()
    } finally {
      // The next waiting job starts in place of this one, so the number of running jobs does not change.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
