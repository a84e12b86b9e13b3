import { decodeFunctionResult, encodeFunctionData } from 'viem/utils'
import { NodeFault } from '../chain/errors.ts'
import { isRecord, openEndpoint, postBatch, type RpcCall } from '../chain/json-rpc.ts'
import { formatQuantity, parseQuantity } from '../chain/quantity.ts'
import type { ChainSettings } from '../config.ts'
import type { Clock } from '../lib/clock.ts'
import type { EgressProxy } from '../lib/outbound/egress-proxy.ts'
import type { Finding } from './finding.ts'

const CALL_MS_MAX = 5_000
/** The batch sizes to try. The first is the largest batch that the service sends. */
const BATCH_SIZES = [100, 50, 20, 10, 5, 1]
/** The numbers of blocks to try in a query for logs. The first is the most that the service asks for. */
const LOG_RANGES = [1_000n, 500n, 100n, 50n, 10n, 5n, 2n, 1n]
/** The machines behind one address differ by a few blocks. All of them have a block that is this deep. */
const KNOWN_DEPTH = 30n
const HEAD_AGE_WARN_SECONDS = 60
const HEAD_AGE_FAIL_SECONDS = 300
const USDC_DECIMALS = 6
const MS_PER_SECOND = 1_000
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** Nobody has transfers to this address, so the responses are short. */
const NOBODY = `0x${'0'.repeat(63)}1`
/** No block has this hash. */
const UNKNOWN_HASH = `0x${'5'.repeat(64)}`

const NO_LOGS_ADVICE = 'The service cannot find deposits, purchases and lost payments at this node. Use another one.'

const TOKEN_ABI = [
  { type: 'function', name: 'decimals', stateMutability: 'view', inputs: [], outputs: [{ name: '', type: 'uint8' }] },
  { type: 'function', name: 'symbol', stateMutability: 'view', inputs: [], outputs: [{ name: '', type: 'string' }] },
] as const

type Ask = (calls: readonly RpcCall[]) => Promise<unknown[]>

/**
 * Checks one RPC address of a chain. Nodes do not report their limits, so the doctor tries requests of several sizes.
 */
export async function checkNode(
  { mode, chainId, usdc }: ChainSettings,
  { rpcUrl, position, clock, proxy }: { rpcUrl: string; position: number; clock: Clock; proxy: EgressProxy | null },
): Promise<readonly Finding[]> {
  const endpoint = openEndpoint(rpcUrl, proxy)
  const name = `${mode} chain, node ${position} (${endpoint.host})`
  const setting = `${mode.toUpperCase()}_RPC_URLS`
  const ask: Ask = async (calls) => await postBatch(endpoint, calls, AbortSignal.timeout(CALL_MS_MAX))
  try {
    const [id] = await ask([{ method: 'eth_chainId', params: [] }])
    const actual = parseQuantity(id)
    if (actual !== BigInt(chainId)) {
      const advice = `Correct ${setting} or ${mode.toUpperCase()}_CHAIN_ID.`
      return [{ level: 'fail', name, observed: `chain ${actual}, not ${chainId}`, advice }]
    }
  } catch (error) {
    if (!(error instanceof NodeFault)) throw error
    const advice = `Check this address in ${setting}, and its API key.`
    return [{ level: 'fail', name, observed: error.message, advice }]
  }
  const [token, heads, batches] = await Promise.all([
    checkUsdc(ask, { name: `${name}, USDC`, usdc, setting: `${mode.toUpperCase()}_USDC` }),
    checkHead(ask, { name, usdc, clock }),
    checkBatches(ask, `${name}, batches`),
  ])
  return [{ level: 'ok', name, observed: `chain ${chainId}` }, token, ...heads, batches]
}

async function checkUsdc(
  ask: Ask,
  { name, usdc, setting }: { name: string; usdc: string; setting: string },
): Promise<Finding> {
  const advice = `Correct ${setting}. It must be the USDC contract of this chain.`
  const call = (functionName: 'decimals' | 'symbol'): RpcCall => ({
    method: 'eth_call',
    params: [{ to: usdc, data: encodeFunctionData({ abi: TOKEN_ABI, functionName }) }, 'latest'],
  })
  try {
    const [code] = await ask([{ method: 'eth_getCode', params: [usdc, 'latest'] }])
    if (code === '0x') return { level: 'fail', name, observed: `no contract at ${usdc}`, advice }
    const [decimalsWord, symbolWords] = await ask([call('decimals'), call('symbol')])
    const decimals = decodeFunctionResult({ abi: TOKEN_ABI, functionName: 'decimals', data: toHex(decimalsWord) })
    const symbol = decodeFunctionResult({ abi: TOKEN_ABI, functionName: 'symbol', data: toHex(symbolWords) })
    const observed = `${JSON.stringify(symbol)} with ${decimals} decimals at ${usdc}`
    if (decimals !== USDC_DECIMALS) return { level: 'fail', name, observed, advice }
    return { level: symbol === 'USDC' ? 'ok' : 'warn', name, observed, advice }
  } catch {
    return { level: 'fail', name, observed: `the contract at ${usdc} does not return decimals and a symbol`, advice }
  }
}

async function checkHead(
  ask: Ask,
  { name, usdc, clock }: { name: string; usdc: string; clock: Clock },
): Promise<readonly Finding[]> {
  try {
    const [block] = await ask([{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
    if (!isRecord(block)) throw new NodeFault('returned no latest block')
    const number = parseQuantity(block['number'])
    const minedAt = Number(parseQuantity(block['timestamp']))
    const ageSeconds = Math.round(clock.now().getTime() / MS_PER_SECOND - minedAt)
    const level = ageSeconds > HEAD_AGE_FAIL_SECONDS ? 'fail' : ageSeconds > HEAD_AGE_WARN_SECONDS ? 'warn' : 'ok'
    const advice =
      "The node lags behind its chain, or the chain has stalled. Ask the node's provider, or use another node."
    return [
      { level, name: `${name}, head`, observed: `block ${number}, ${ageSeconds} s old`, advice },
      ...(await Promise.all([
        checkLogs(ask, { name: `${name}, logs`, usdc, head: number }),
        checkLogsByHash(ask, { name: `${name}, logs of one block`, usdc, head: number }),
      ])),
    ]
  } catch (error) {
    if (!(error instanceof NodeFault)) throw error
    return [{ level: 'fail', name: `${name}, head`, observed: error.message, advice: 'Use another node.' }]
  }
}

/** Finds out how many blocks a query for transfers may cover. */
async function checkLogs(
  ask: Ask,
  { name, usdc, head }: { name: string; usdc: string; head: bigint },
): Promise<Finding> {
  const advice = 'The service needs more requests to search this node. After a long outage it takes longer to catch up.'
  for (const range of LOG_RANGES) {
    const from = head >= range ? head - range + 1n : 0n
    const blocks = { fromBlock: formatQuantity(from), toBlock: formatQuantity(head) }
    if ((await ask([logsCall(usdc, blocks)]).catch(giveUp)) === null) continue
    const observed = `${range} ${range === 1n ? 'block' : 'blocks'} at once`
    return { level: range === LOG_RANGES[0] ? 'ok' : 'warn', name, observed, advice }
  }
  return { level: 'fail', name, observed: 'rejected, even for a single block', advice: NO_LOGS_ADVICE }
}

/**
 * Reads the transfers in one block by its hash, as the service does to find deposits. A machine that does not have the
 * block must reject this (EIP-234). Otherwise an empty list would not say whether the block has no transfers.
 */
async function checkLogsByHash(
  ask: Ask,
  { name, usdc, head }: { name: string; usdc: string; head: bigint },
): Promise<Finding> {
  const number = formatQuantity(head > KNOWN_DEPTH ? head - KNOWN_DEPTH : 0n)
  const [block] = await ask([{ method: 'eth_getBlockByNumber', params: [number, false] }])
  if (!isRecord(block)) throw new NodeFault(`returned no block ${KNOWN_DEPTH} blocks below its head`)
  const known = await ask([logsCall(usdc, { blockHash: block['hash'] })]).catch(giveUp)
  if (known === null)
    return { level: 'fail', name, observed: 'rejected for the hash of a block', advice: NO_LOGS_ADVICE }
  const unknown = await ask([logsCall(usdc, { blockHash: UNKNOWN_HASH })]).catch(giveUp)
  if (unknown === null) return { level: 'ok', name, observed: 'by its hash' }
  const advice = 'If this node lags, the service finds deposits a minute late, or not at all. Use another node.'
  return { level: 'warn', name, observed: 'an empty list, also for a block that it does not have', advice }
}

function logsCall(usdc: string, blocks: Readonly<Record<string, unknown>>): RpcCall {
  const topics = [TRANSFER_TOPIC, null, [NOBODY]]
  return { method: 'eth_getLogs', params: [{ address: usdc, topics, ...blocks }] }
}

async function checkBatches(ask: Ask, name: string): Promise<Finding> {
  const advice = 'The service sends more requests to this node than to others, and reaches its rate limit sooner.'
  for (const size of BATCH_SIZES) {
    const calls = Array.from({ length: size }, () => ({ method: 'eth_blockNumber', params: [] }))
    if ((await ask(calls).catch(giveUp)) === null) continue
    return { level: size === BATCH_SIZES[0] ? 'ok' : 'warn', name, observed: `${size} calls in a request`, advice }
  }
  return { level: 'fail', name, observed: 'does not accept batches', advice: 'Use another node.' }
}

function giveUp(error: unknown): null {
  if (error instanceof NodeFault) return null
  throw error
}

function toHex(value: unknown): `0x${string}` {
  return typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value) ? (value as `0x${string}`) : '0x'
}
