import { answerJson, startFakeServer, type FakeServer } from './fake-server.ts'

type Hex = `0x${string}`

export interface FakeTransfer {
  readonly contract: Hex
  readonly from: Hex
  readonly to: Hex
  readonly amountMicro: bigint
}

export interface FakeReceipt extends FakeTransfer {
  readonly blockNumber: bigint
  readonly reverted?: boolean
}

/** A transfer in the chain's logs. Those of one block stand in it in the order of `logs`. */
export interface FakeLog extends FakeTransfer {
  readonly txHash: Hex
  readonly blockNumber: bigint
}

export interface RpcCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** Thrown while a call is answered: the node refuses it with this code. */
export class RpcRefusal extends Error {
  override readonly name = 'RpcRefusal'
  readonly code: number

  constructor(code: number) {
    super('refused')
    this.code = code
  }
}

/** A chain that says what a test tells it to: JSON-RPC over HTTP, answered at once. */
export interface FakeChain extends FakeServer {
  readonly chainId: number
  head: bigint
  /** Of every address that `balances` does not name. */
  balanceMicro: bigint
  readonly balances: Map<string, bigint>
  readonly receipts: Map<string, FakeReceipt>
  readonly logs: FakeLog[]
  /** While true, every call is answered with 503. */
  down: boolean
  calls: number
  /** Answers in the chain's place; undefined leaves the answer to it. */
  intercept: (call: RpcCall) => unknown
  /** The last blocks are others from now on, and empty. Answers the transfers that were in them. */
  reorganize(blocks: number): FakeLog[]
}

const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const HASH_PREFIX = '0x'

/** Block hashes: the number, and how often it was taken back. */
const HASH_BASE = 1_000_000n
const FORK_SHIFT = 64n

export async function startFakeChain(chainId: number): Promise<FakeChain> {
  const state: State = {
    chainId,
    head: 100n,
    balanceMicro: 10n ** 15n,
    balances: new Map<string, bigint>(),
    receipts: new Map<string, FakeReceipt>(),
    logs: [],
    forks: [],
    down: false,
    calls: 0,
    intercept: () => undefined,
    reorganize: (blocks) => reorganize(state, blocks),
  }
  const server = await startFakeServer((_request, body, response) => {
    if (state.down) {
      answerJson(response, { error: 'down' }, 503)
      return
    }
    const parsed = JSON.parse(body) as RpcCall | RpcCall[]
    const answer = (call: RpcCall) => {
      state.calls += 1
      try {
        const told = state.intercept(call)
        return { jsonrpc: '2.0', id: call.id, result: told === undefined ? answerCall(state, call) : told }
      } catch (error) {
        if (!(error instanceof RpcRefusal)) throw error
        return { jsonrpc: '2.0', id: call.id, error: { code: error.code, message: error.message } }
      }
    }
    answerJson(response, Array.isArray(parsed) ? parsed.map(answer) : answer(parsed))
  })
  return Object.assign(state, server)
}

type State = Omit<FakeChain, keyof FakeServer> & {
  /** The first block of each reorganization. */
  readonly forks: bigint[]
}

function reorganize(state: State, blocks: number): FakeLog[] {
  const first = state.head - BigInt(blocks) + 1n
  state.forks.push(first)
  for (const [hash, { blockNumber }] of state.receipts) {
    if (blockNumber >= first) state.receipts.delete(hash)
  }
  const taken = state.logs.filter(({ blockNumber }) => blockNumber >= first)
  state.logs.splice(0, state.logs.length, ...state.logs.filter(({ blockNumber }) => blockNumber < first))
  return taken
}

function answerCall(state: State, { method, params }: RpcCall): unknown {
  switch (method) {
    case 'eth_chainId':
      return toHex(BigInt(state.chainId))
    case 'eth_blockNumber':
      return toHex(state.head)
    case 'eth_call': {
      const { data } = params[0] as { data: string }
      const address = `0x${data.slice(-40)}`
      return toWord(state.balances.get(address) ?? state.balanceMicro)
    }
    case 'eth_getTransactionReceipt':
      return toReceipt(state, String(params[0]), state.receipts.get(String(params[0])))
    case 'eth_getBlockByNumber':
      return toBlock(state, BigInt(String(params[0])))
    case 'eth_getLogs':
      return findLogs(state, params[0] as LogFilter)
    default:
      throw new Error(`the fake chain does not know ${method}`)
  }
}

interface LogFilter {
  readonly address: string
  readonly fromBlock: string
  readonly toBlock: string
  readonly topics: readonly [string, null, readonly string[]]
}

/** As nodes do, without a word of what lies above the head. */
function findLogs(state: State, { address, fromBlock, toBlock, topics }: LogFilter): unknown[] {
  const [event, , recipients] = topics
  if (event !== TRANSFER_TOPIC) throw new Error(`the fake chain has no events ${event}`)
  return state.logs.flatMap((log) => {
    const { blockNumber, contract, txHash } = log
    if (blockNumber < BigInt(fromBlock) || blockNumber > BigInt(toBlock) || blockNumber > state.head) return []
    if (contract.toLowerCase() !== address.toLowerCase() || !recipients.includes(toAddressWord(log.to))) return []
    const logIndex = state.logs.filter((other) => other.blockNumber === blockNumber).indexOf(log)
    const place = {
      blockNumber: toHex(blockNumber),
      blockHash: toBlockHash(state, blockNumber),
      transactionHash: txHash,
    }
    return [{ ...toLog(log), ...place, logIndex: toHex(BigInt(logIndex)), removed: false }]
  })
}

function toBlock(state: State, number: bigint): unknown {
  if (number > state.head) return null
  const [hash, parentHash] = [toBlockHash(state, number), toBlockHash(state, number - 1n)]
  return { number: toHex(number), hash, parentHash, transactions: [] }
}

function toBlockHash({ forks }: State, number: bigint): Hex {
  const taken = forks.filter((first) => first <= number).length
  return toWord(number + HASH_BASE + (BigInt(taken) << FORK_SHIFT))
}

function toReceipt(state: State, hash: string, receipt: FakeReceipt | undefined): unknown {
  if (receipt === undefined) return null
  return {
    transactionHash: hash,
    blockNumber: toHex(receipt.blockNumber),
    blockHash: toBlockHash(state, receipt.blockNumber),
    status: receipt.reverted === true ? '0x0' : '0x1',
    logs: receipt.reverted === true ? [] : [toLog(receipt)],
  }
}

function toLog({ contract, from, to, amountMicro }: FakeTransfer): object {
  const topics = [TRANSFER_TOPIC, toAddressWord(from), toAddressWord(to)]
  return { address: contract, topics, data: toWord(amountMicro) }
}

function toHex(value: bigint): Hex {
  return `0x${value.toString(16)}`
}

function toWord(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}

function toAddressWord(address: string): string {
  return HASH_PREFIX + address.slice(2).toLowerCase().padStart(64, '0')
}
