import { answerJson, startFakeServer, type FakeServer } from './fake-server.ts'

type Hex = `0x${string}`

export interface FakeTransfer {
  readonly contract: Hex
  readonly from: Hex
  readonly to: Hex
  readonly amountMicro: bigint
  /** The nonce of the authorization (EIP-3009) by which the payer signed the transfer. By default, there is none. */
  readonly authorization?: Hex
}

export interface FakeOperation {
  readonly hash: Hex
  readonly isSuccess: boolean
  readonly after: number
  /** The account that sent the user operation. By default, it is the payer. */
  readonly sender?: Hex
}

export interface FakeReceipt extends FakeTransfer {
  readonly blockNumber: bigint
  readonly reverted?: boolean
  /** The sender of the transaction, if it is not the payer. For a user operation, it is the bundler. */
  readonly sender?: Hex
  /** Further transfers in the transaction, after the first one. */
  readonly others?: readonly FakeTransfer[]
  /** The user operations in the transaction. `after` is the number of transfers before the operation's event. */
  readonly operations?: readonly FakeOperation[]
  /** The nonces of authorizations of the payer that are canceled. The transaction then contains no transfer. */
  readonly cancels?: readonly Hex[]
}

/** A transfer in the chain's logs. In each block, the logs have the same order as in `logs`. */
export interface FakeLog extends FakeTransfer {
  readonly txHash: Hex
  readonly blockNumber: bigint
}

export interface RpcCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** If `intercept` throws this, the node rejects the call with this code and message. */
export class RpcRefusal extends Error {
  override readonly name = 'RpcRefusal'
  readonly code: number

  constructor(code: number, message = 'refused') {
    super(message)
    this.code = code
  }
}

/** A chain that a test controls. It responds to JSON-RPC over HTTP at once. */
export interface FakeChain extends FakeServer {
  readonly chainId: number
  head: bigint
  /** The USDC balance of every address that is not in `balances`. */
  balanceMicro: bigint
  readonly balances: Map<string, bigint>
  /** The balance of native coins of every address, in wei. */
  coinWei: bigint
  readonly receipts: Map<string, FakeReceipt>
  readonly logs: FakeLog[]
  /** The transactions that the node has, mined or not, by hash. */
  readonly transactions: Map<string, { readonly from: string; readonly nonce: bigint }>
  /** The number of nonces that each address has used. It is the same at every block. Addresses are in lower case. */
  readonly nonces: Map<string, bigint>
  /** The code of addresses that have code. Addresses are in lower case. */
  readonly codes: Map<string, Hex>
  /** While this is true, every response is a 503. */
  down: boolean
  /** The time of block 0, in Unix seconds. */
  startSeconds: bigint
  calls: number
  /** The number of HTTP requests. A request contains one call or a batch of calls. */
  requests: number
  /** The size of all bodies that were received or sent, in bytes. */
  bytes: number
  /** Returns the result of a call, or undefined if the fake chain should respond as usual. */
  intercept: (call: RpcCall) => unknown
  /**
   * Returns the head of the machine that responds to a call, or undefined if it is `head`. A gateway has several
   * machines, and routes the calls of a batch to different ones. A machine that lags does not know the blocks above its
   * own head: it silently leaves out their logs, and has no receipts of their transactions.
   */
  machineHead: (call: RpcCall) => bigint | undefined
  /**
   * Whether the node leaves a log out of its lists, although it has the log's block: the block was indexed late, or the
   * index has a hole. By default, none is left out.
   */
  isLeftOut: (log: FakeLog) => boolean
  /** Replaces the last blocks with empty ones. Returns the transfers that were in the replaced blocks. */
  reorganize(blocks: number): FakeLog[]
}

const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const ENTRY_POINT = '0x0000000071727de22e5e9d8baf0edac6f37da032'
const OPERATION_TOPIC = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'
const USED_TOPIC = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
const CANCELED_TOPIC = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81'
/** The function selector of `authorizationState(address,bytes32)` (EIP-3009). */
const STATE_SELECTOR = '0xe94a0102'
const HASH_PREFIX = '0x'
const SECONDS_PER_BLOCK = 2n

const GAS_PRICE_WEI = 10n ** 9n
const GAS_PRICE_ORACLE = '0x420000000000000000000000000000000000000F'

/** A block's hash contains its number, and how often the block was replaced. */
const HASH_BASE = 1_000_000n
const FORK_SHIFT = 64n

export async function startFakeChain(chainId: number): Promise<FakeChain> {
  const state: State = {
    chainId,
    head: 100n,
    balanceMicro: 10n ** 15n,
    balances: new Map<string, bigint>(),
    coinWei: 10n ** 18n,
    receipts: new Map<string, FakeReceipt>(),
    logs: [],
    transactions: new Map<string, { from: string; nonce: bigint }>(),
    nonces: new Map<string, bigint>(),
    codes: new Map<string, Hex>(),
    forks: [],
    isBounded: false,
    down: false,
    startSeconds: 0n,
    calls: 0,
    requests: 0,
    bytes: 0,
    intercept: () => undefined,
    machineHead: () => undefined,
    isLeftOut: () => false,
    reorganize: (blocks) => reorganize(state, blocks),
  }
  const server = await startFakeServer((_request, body, response) => {
    state.requests += 1
    state.bytes += Buffer.byteLength(body)
    if (state.down) {
      answerJson(response, { error: 'down' }, 503)
      return
    }
    const parsed = JSON.parse(body) as RpcCall | RpcCall[]
    const answer = (call: RpcCall) => {
      state.calls += 1
      try {
        const told = state.intercept(call)
        const result = told === undefined ? answerCall(chooseMachine(state, call), call) : told
        return { jsonrpc: '2.0', id: call.id, result }
      } catch (error) {
        if (!(error instanceof RpcRefusal)) throw error
        return { jsonrpc: '2.0', id: call.id, error: { code: error.code, message: error.message } }
      }
    }
    const told = Array.isArray(parsed) ? parsed.map(answer) : answer(parsed)
    state.bytes += Buffer.byteLength(JSON.stringify(told))
    answerJson(response, told)
  })
  return Object.assign(state, server)
}

type State = Omit<FakeChain, keyof FakeServer> & {
  /** The first replaced block of each reorganization. */
  readonly forks: bigint[]
  /** Whether this is a machine that does not know the blocks above its own head. */
  readonly isBounded: boolean
}

function chooseMachine(state: State, call: RpcCall): State {
  const head = state.machineHead(call)
  return head === undefined ? state : { ...state, head, isBounded: true }
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
    case 'eth_getBalance':
      return toHex(state.coinWei)
    case 'eth_getCode':
      return state.codes.get(String(params[0]).toLowerCase()) ?? '0x'
    case 'eth_gasPrice':
      return toHex(GAS_PRICE_WEI)
    case 'eth_call': {
      const { to, data } = params[0] as { to: string; data: string }
      // This chain has no contract at the address where OP stack chains report the price of publishing data.
      if (to === GAS_PRICE_ORACLE) return '0x'
      if (data.startsWith(STATE_SELECTOR)) return readAuthorizationState(state, data, String(params[1]))
      if (state.isBounded && BigInt(String(params[1])) > state.head) throw new RpcRefusal(-32000, 'header not found')
      const address = `0x${data.slice(-40)}`
      return toWord(state.balances.get(address) ?? state.balanceMicro)
    }
    case 'eth_getTransactionReceipt':
      return toReceipt(state, String(params[0]), state.receipts.get(String(params[0])))
    case 'eth_getBlockByNumber':
      return toBlock(state, params[0] === 'latest' ? state.head : BigInt(String(params[0])))
    case 'eth_getTransactionByHash':
      return toTransaction(state, String(params[0]))
    case 'eth_getTransactionCount':
      return toHex(state.nonces.get(String(params[0]).toLowerCase()) ?? 0n)
    case 'eth_getLogs':
      return findLogs(state, params[0] as LogFilter)
    default:
      throw new Error(`the fake chain does not know ${method}`)
  }
}

interface LogFilter {
  readonly address: string | readonly string[]
  readonly fromBlock?: string
  readonly toBlock?: string
  readonly blockHash?: `0x${string}`
  readonly topics: readonly (string | null | readonly string[])[]
}

/**
 * Finds logs in a block, or in a range of blocks. As with real nodes, the range may end above the head. The logs of
 * `receipts` are included only if the search is for a single payment.
 */
function findLogs(state: State, filter: LogFilter): unknown[] {
  const { blockHash, fromBlock = '0x0', toBlock = '0x0' } = filter
  const block = blockHash === undefined ? null : findBlock(state, blockHash)
  const [from, to] = block === null ? [BigInt(fromBlock), BigInt(toBlock)] : [block, block]
  const isInRange = ({ blockNumber }: { blockNumber: bigint }) =>
    blockNumber >= from && blockNumber <= to && blockNumber <= state.head
  const isTrace = filter.topics[0] === OPERATION_TOPIC || (filter.topics[1] ?? null) !== null
  const ofReceipts = isTrace
    ? [...state.receipts].flatMap(([txHash, receipt]) =>
        isInRange(receipt) && receipt.reverted !== true
          ? toReceiptLogs(receipt).map((log) => placeLog(state, log, { txHash, ...receipt }))
          : [],
      )
    : []
  const indexes = new Map<bigint, number>()
  const ofLogs = state.logs.flatMap((log) => {
    const logIndex = indexes.get(log.blockNumber) ?? 0
    indexes.set(log.blockNumber, logIndex + 1)
    return isInRange(log) && !state.isLeftOut(log)
      ? [placeLog(state, { ...toLog(log), logIndex: toHex(BigInt(logIndex)) }, log)]
      : []
  })
  return [...ofReceipts, ...ofLogs].filter((log) => isWanted(log as WireLog, filter))
}

interface WireLog {
  readonly address: string
  readonly topics: readonly string[]
}

function placeLog(state: State, log: object, { txHash, blockNumber }: { txHash: string; blockNumber: bigint }): object {
  const block = { blockNumber: toHex(blockNumber), blockHash: toBlockHash(state, blockNumber) }
  return { ...log, ...block, transactionHash: txHash, removed: false }
}

function isWanted({ address, topics }: WireLog, filter: LogFilter): boolean {
  const isOneOf = (value: string | undefined, wanted: string | null | readonly string[] | undefined): boolean =>
    wanted === null || wanted === undefined || [wanted].flat().some((one) => one.toLowerCase() === value?.toLowerCase())
  return isOneOf(address, filter.address) && topics.every((topic, index) => isOneOf(topic, filter.topics[index]))
}

function toBlock(state: State, number: bigint): unknown {
  if (number > state.head) return null
  const [hash, parentHash] = [toBlockHash(state, number), toBlockHash(state, number - 1n)]
  return {
    number: toHex(number),
    hash,
    parentHash,
    timestamp: toHex(state.startSeconds + number * SECONDS_PER_BLOCK),
    transactions: [],
  }
}

function toBlockHash({ forks }: State, number: bigint): Hex {
  const taken = forks.filter((first) => first <= number).length
  return toWord(number + HASH_BASE + (BigInt(taken) << FORK_SHIFT))
}

/** Finds the number of a block by its hash. A node rejects a hash that it does not know (EIP-234). */
function findBlock(state: State, hash: Hex): bigint {
  const number = (BigInt(hash) & ((1n << FORK_SHIFT) - 1n)) - HASH_BASE
  if (number > state.head || toBlockHash(state, number) !== hash) throw new RpcRefusal(-32000, 'unknown block')
  return number
}

function toTransaction(state: State, hash: string): unknown {
  const transaction = state.transactions.get(hash)
  return transaction === undefined ? null : { hash, from: transaction.from, nonce: toHex(transaction.nonce) }
}

function toReceipt(state: State, hash: string, receipt: FakeReceipt | undefined): unknown {
  if (receipt === undefined || (state.isBounded && receipt.blockNumber > state.head)) return null
  return {
    transactionHash: hash,
    blockNumber: toHex(receipt.blockNumber),
    blockHash: toBlockHash(state, receipt.blockNumber),
    status: receipt.reverted === true ? '0x0' : '0x1',
    from: receipt.sender ?? receipt.from,
    logs: receipt.reverted === true ? [] : toReceiptLogs(receipt),
  }
}

function toReceiptLogs(receipt: FakeReceipt): object[] {
  const transfers = [...(receipt.cancels === undefined ? [receipt] : []), ...(receipt.others ?? [])]
  const logs: object[] = []
  for (let emitted = 0; emitted <= transfers.length; emitted += 1) {
    const ended = (receipt.operations ?? []).filter(({ after }) => after === emitted)
    logs.push(...ended.map((operation) => toOperationLog({ sender: receipt.from, ...operation })))
    const next = transfers[emitted]
    if (next !== undefined) logs.push(...toLogs(next))
  }
  for (const nonce of receipt.cancels ?? []) logs.push(toAuthorizationLog(CANCELED_TOPIC, receipt, nonce))
  return logs.map((log, index) => ({ ...log, logIndex: toHex(BigInt(index)) }))
}

/** Makes the log of a `UserOperationEvent`. Its data is: nonce, success, gas cost, gas used. */
function toOperationLog({ hash, sender, isSuccess }: { hash: Hex; sender: Hex; isSuccess: boolean }): object {
  const words = [0n, isSuccess ? 1n : 0n, 0n, 0n].map((word) => toWord(word).slice(2)).join('')
  const topics = [OPERATION_TOPIC, hash, toAddressWord(sender), toAddressWord('0x1')]
  return { address: ENTRY_POINT, topics, data: `0x${words}` }
}

function toLog({ contract, from, to, amountMicro }: FakeTransfer): object {
  const topics = [TRANSFER_TOPIC, toAddressWord(from), toAddressWord(to)]
  return { address: contract, topics, data: toWord(amountMicro) }
}

/** Makes the logs of a transfer. The use of an authorization comes right before its transfer. */
function toLogs(transfer: FakeTransfer): object[] {
  const { authorization } = transfer
  const use = authorization === undefined ? [] : [toAuthorizationLog(USED_TOPIC, transfer, authorization)]
  return [...use, toLog(transfer)]
}

function toAuthorizationLog(topic: Hex, { contract, from }: FakeTransfer, nonce: Hex): object {
  return { address: contract, topics: [topic, toAddressWord(from), nonce], data: '0x' }
}

/** Returns whether the authorization was used or canceled in a receipt of this block or before. */
function readAuthorizationState(state: State, data: string, block: string): unknown {
  if (BigInt(block) > state.head) throw new RpcRefusal(-32000)
  const [authorizer, nonce] = [`0x${data.slice(34, 74)}`, `0x${data.slice(74)}`]
  const isEnded = [...state.receipts.values()].some(
    (receipt) =>
      receipt.blockNumber <= BigInt(block) &&
      receipt.reverted !== true &&
      [receipt, ...(receipt.others ?? [])].some(
        ({ from, authorization }) =>
          from.toLowerCase() === authorizer && [authorization, ...(receipt.cancels ?? [])].includes(nonce as Hex),
      ),
  )
  return toWord(isEnded ? 1n : 0n)
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
