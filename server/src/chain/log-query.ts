import { blockCall, parseBlockHeader, readHeader, type BlockHeader } from './block-header.ts'
import type { BlockRange } from './block-ranges.ts'
import { NodeBehind, NodeFault } from './errors.ts'
import { isRecord, type RpcCall } from './json-rpc.ts'
import { formatQuantity } from './quantity.ts'
import type { Batch } from './rpc-nodes.ts'

/** Which logs to read, as `eth_getLogs` names them. */
export type LogFilter = { readonly address: string | readonly string[]; readonly topics: readonly unknown[] }

export type LogsRead = {
  /** The lists of logs. With `isComplete`, there is one for each filter and block, otherwise one for each filter. */
  readonly logs: readonly (readonly unknown[])[]
  readonly first: BlockHeader
  readonly last: BlockHeader
  /** Whether each block was read by its hash. Then nothing is missing, and all logs belong to one fork. */
  readonly isComplete: boolean
}

/**
 * A range of up to this many blocks is read block by block, which takes fewer requests than a query for the range. A
 * reader that keeps up with the chain reads one or two blocks at a time.
 */
const BLOCKS_BY_HASH_MAX = 3n

/**
 * Reads the logs of a range of blocks from one node, without interpreting them. All queries for logs are made here.
 *
 * An empty list proves nothing by itself. One address may have several machines behind it, and each call of a request
 * may reach another machine. A machine that does not have the last blocks of the range, or has not indexed their logs
 * yet, silently leaves these logs out. But a machine that is asked for the logs of one block, by the block's hash, must
 * reject the call if it does not have the block (EIP-234). With `byHash`, and in a short range, each block is read this
 * way.
 *
 * Otherwise, a query for the last block by its hash goes with each query for the range, and the first list must contain
 * these logs. This finds a node whose logs lag, but not a single machine that returned only the list of the range. So a
 * caller must not conclude from such a read that something did not happen.
 * @throws NodeFault; `NodeBehind` if a machine does not have one of the blocks yet.
 */
export async function readLogs(
  batch: Batch,
  filters: readonly LogFilter[],
  range: BlockRange & { readonly byHash?: boolean },
): Promise<LogsRead> {
  const { from, to, byHash = to - from < BLOCKS_BY_HASH_MAX } = range
  return byHash ? await readEachBlock(batch, filters, { from, to }) : await readRange(batch, filters, { from, to })
}

async function readEachBlock(batch: Batch, filters: readonly LogFilter[], { from, to }: BlockRange): Promise<LogsRead> {
  const numbers = Array.from({ length: Number(to - from) + 1 }, (_, index) => from + BigInt(index))
  const blocks = await batch(numbers.map(blockCall))
  const headers = numbers.map((number, index) => parseBlockHeader(number, blocks[index]))
  const [first] = headers
  const last = headers.at(-1)
  if (first === undefined || last === undefined) throw new RangeError(`no blocks from ${from} to ${to}`)
  if (headers.some(({ parentHash }, index) => index > 0 && parentHash !== headers[index - 1]?.hash))
    throw new NodeFault('returned two forks at once')
  const lists = await batch(
    headers.flatMap(({ hash: blockHash }) => filters.map((filter) => logsCall(filter, { blockHash }))),
  )
  return { logs: lists.map(parseList), first, last, isComplete: true }
}

async function readRange(batch: Batch, filters: readonly LogFilter[], { from, to }: BlockRange): Promise<LogsRead> {
  const last = await readHeader(batch, to)
  const [filter] = filters
  const ofLast: (readonly unknown[])[] = []
  const witness = {
    call: logsCall(filter, { blockHash: last.hash }),
    keep: (list: unknown) => void ofLast.push(parseList(list)),
  }
  const blocks = { fromBlock: formatQuantity(from), toBlock: formatQuantity(to) }
  const calls = [blockCall(from), ...filters.map((one) => logsCall(one, blocks))]
  const [block, ...lists] = await batch(calls, filter === undefined ? undefined : witness)
  const logs = lists.map(parseList)
  const known = new Set(logs[0]?.map(formatPosition))
  if (ofLast.flat().some((log) => !known.has(formatPosition(log)))) throw new NodeBehind(`lacks logs of block ${to}`)
  return { logs, first: parseBlockHeader(from, block), last, isComplete: false }
}

function logsCall(filter: LogFilter | undefined, blocks: Readonly<Record<string, string>>): RpcCall {
  return { method: 'eth_getLogs', params: [{ ...filter, ...blocks }] }
}

function parseList(response: unknown): readonly unknown[] {
  if (!Array.isArray(response)) throw new NodeFault('did not return logs')
  return response
}

function formatPosition(log: unknown): string {
  if (!isRecord(log)) throw new NodeFault('did not return a log')
  return `${String(log['blockHash'])} ${String(log['logIndex'])}`
}
