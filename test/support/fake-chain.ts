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

/** A chain that says what a test tells it to: JSON-RPC over HTTP, answered at once. */
export interface FakeChain extends FakeServer {
  readonly chainId: number
  head: bigint
  /** Of every address that `balances` does not name. */
  balanceMicro: bigint
  readonly balances: Map<string, bigint>
  readonly receipts: Map<string, FakeReceipt>
  /** While true, every call is answered with 503. */
  down: boolean
  calls: number
}

const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const HASH_PREFIX = '0x'

interface RpcCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

export async function startFakeChain(chainId: number): Promise<FakeChain> {
  const state = {
    chainId,
    head: 100n,
    balanceMicro: 10n ** 15n,
    balances: new Map<string, bigint>(),
    receipts: new Map<string, FakeReceipt>(),
    down: false,
    calls: 0,
  }
  const server = await startFakeServer((_request, body, response) => {
    if (state.down) {
      answerJson(response, { error: 'down' }, 503)
      return
    }
    const parsed = JSON.parse(body) as RpcCall | RpcCall[]
    const answer = (call: RpcCall) => {
      state.calls += 1
      return { jsonrpc: '2.0', id: call.id, result: answerCall(state, call) }
    }
    answerJson(response, Array.isArray(parsed) ? parsed.map(answer) : answer(parsed))
  })
  return Object.assign(state, server)
}

type State = Omit<FakeChain, keyof FakeServer>

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
      return toReceipt(String(params[0]), state.receipts.get(String(params[0])))
    default:
      throw new Error(`the fake chain does not know ${method}`)
  }
}

function toReceipt(hash: string, receipt: FakeReceipt | undefined): unknown {
  if (receipt === undefined) return null
  const transfer = {
    address: receipt.contract,
    topics: [TRANSFER_TOPIC, toAddressWord(receipt.from), toAddressWord(receipt.to)],
    data: toWord(receipt.amountMicro),
  }
  return {
    transactionHash: hash,
    blockNumber: toHex(receipt.blockNumber),
    blockHash: toWord(receipt.blockNumber + 1_000_000n),
    status: receipt.reverted === true ? '0x0' : '0x1',
    logs: receipt.reverted === true ? [] : [transfer],
  }
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
