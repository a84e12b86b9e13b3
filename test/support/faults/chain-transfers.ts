import { setTimeout as delay } from 'node:timers/promises'
import { fetchOnce } from '../../../sandbox/src/lib/fetch-once.ts'
import { entryPointAddress } from '../../../sandbox/src/chain/account-contracts.ts'
import type { FaultFixture } from './fault-fixture.ts'

/** A Transfer event of the USDC contract, as the chain reports it. */
export interface ChainTransfer {
  readonly txHash: string
  readonly logIndex: number
  readonly from: string
  readonly to: string
  readonly amountMicro: bigint
  /** The time at which the block was mined, by the sandbox's clock. */
  readonly landedAtMs: number
  /**
   * The hash of the user operation that made the transfer. The EntryPoint reports it after the transfer, in the same
   * transaction.
   */
  readonly operationHash: string | null
}

interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly blockNumber: string
  readonly transactionHash: string
  readonly logIndex: string
}

type Chain = Pick<FaultFixture, 'sandbox' | 'clock' | 'payers'>

const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** The topic of `UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)` (ERC-4337). */
const OPERATION_TOPIC = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'
const BLOCKS_PER_REQUEST = 200
const SECOND_MS = 1_000
/** If no transfer arrives for this long, no send is on its way to the chain. */
const QUIET_MS = 7_000
const QUIET_MS_MAX = 90_000
const QUIET_POLL_MS = 500

/** Lists every transfer from the payers' wallets, in the order in which they are on the chain. */
export async function listChainTransfers(fixture: Chain): Promise<ChainTransfer[]> {
  const logs = await listLogs(fixture, 0, await readHead(fixture))
  const wallets = new Set(fixture.payers.map(({ wallet }) => wallet.toLowerCase()))
  const blockMs = await readBlockTimes(fixture, [...new Set(logs.map(({ blockNumber }) => blockNumber))])
  return logs.flatMap((log, index) => {
    const from = addressIn(log.topics[1])
    if (log.topics[0] !== TRANSFER_TOPIC || !wallets.has(from)) return []
    const operation = logs
      .slice(index)
      .find((later) => later.topics[0] === OPERATION_TOPIC || later.transactionHash !== log.transactionHash)
    return {
      txHash: log.transactionHash,
      logIndex: Number(log.logIndex),
      from,
      to: addressIn(log.topics[2]),
      amountMicro: BigInt(log.data),
      landedAtMs: fixture.clock.toSandboxTime(blockMs.get(log.blockNumber) ?? Number.NaN),
      operationHash: operation?.transactionHash === log.transactionHash ? (operation.topics[1] ?? null) : null,
    }
  })
}

/** Waits until no transfer has arrived for a while. Then the clock can be moved without affecting a transfer. */
export async function waitForQuietChain(fixture: Chain): Promise<void> {
  const deadline = performance.now() + QUIET_MS_MAX
  let seen = await readHead(fixture)
  let quietSince = performance.now()
  while (performance.now() - quietSince < QUIET_MS && performance.now() < deadline) {
    await delay(QUIET_POLL_MS)
    const head = await readHead(fixture)
    if (head > seen && (await listLogs(fixture, seen + 1, head)).length > 0) quietSince = performance.now()
    seen = head
  }
}

async function readHead(fixture: Chain): Promise<number> {
  return Number(await callChain(fixture, 'eth_blockNumber', []))
}

async function listLogs(fixture: Chain, from: number, to: number): Promise<Log[]> {
  const address = [fixture.sandbox.facts.chains.test.usdc, entryPointAddress]
  const logs: Log[] = []
  for (let first = from; first <= to; first += BLOCKS_PER_REQUEST) {
    const [fromBlock, toBlock] = [toHex(first), toHex(Math.min(first + BLOCKS_PER_REQUEST - 1, to))]
    logs.push(...((await callChain(fixture, 'eth_getLogs', [{ fromBlock, toBlock, address }])) as Log[]))
  }
  return logs
}

async function readBlockTimes(fixture: Chain, numbers: readonly string[]): Promise<Map<string, number>> {
  const times = new Map<string, number>()
  for (const number of numbers) {
    const block = (await callChain(fixture, 'eth_getBlockByNumber', [number, false])) as { timestamp: string }
    times.set(number, Number(block.timestamp) * SECOND_MS)
  }
  return times
}

async function callChain({ sandbox }: Chain, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetchOnce(sandbox.facts.chains.test.rpc_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
  if (error !== undefined) throw new Error(`${method}: ${error.message}`)
  return result
}

function addressIn(topic: string | undefined): string {
  return `0x${String(topic).slice(-40)}`.toLowerCase()
}

function toHex(number: number): string {
  return `0x${number.toString(16)}`
}
