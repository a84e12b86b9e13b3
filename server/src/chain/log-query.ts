import { blockCall, parseBlockHeader, readHeader, type BlockHeader } from './block-header.ts'
import type { BlockRange } from './block-ranges.ts'
import { NodeBehind, NodeFault } from './errors.ts'
import { isRecord, type RpcCall } from './json-rpc.ts'
import { formatQuantity } from './quantity.ts'
import type { Batch } from './rpc-nodes.ts'

/** Which logs to read, as `eth_getLogs` names them. */
export type LogFilter = { readonly address: string | readonly string[]; readonly topics: readonly unknown[] }

export type LogsRead = {
  /** One list of logs for each filter. */
  readonly logs: readonly (readonly unknown[])[]
  readonly first: BlockHeader
  readonly last: BlockHeader
}

/**
 * Reads the logs of a range of blocks from one node, without interpreting them. All queries for logs are made here.
 *
 * An empty list proves nothing by itself. One address may have several machines behind it, and each call of a request
 * may reach another machine. A machine that does not have the last blocks of the range, or has not indexed their logs
 * yet, silently leaves these logs out. But a machine that is asked for the logs of one block, by the block's hash, must
 * reject the call if it does not have the block (EIP-234). So a single block is asked for by its hash. With each query
 * for several blocks goes one for the last block by its hash, and the first list must contain these logs. This does not
 * exclude that a machine which lags returned only the longer list. So a caller must never conclude from one read that
 * something did not happen.
 * @throws NodeFault; `NodeBehind` if a machine does not have the last block yet.
 */
export async function readLogs(
  batch: Batch,
  filters: readonly LogFilter[],
  { from, to }: BlockRange,
): Promise<LogsRead> {
  const last = await readHeader(batch, to)
  const ofLastBlock = { blockHash: last.hash }
  if (from === to) {
    const lists = await batch(filters.map((filter) => logsCall(filter, ofLastBlock)))
    return { logs: lists.map(parseList), first: last, last }
  }
  const [filter] = filters
  const ofLast: (readonly unknown[])[] = []
  const witness = { call: logsCall(filter, ofLastBlock), keep: (list: unknown) => void ofLast.push(parseList(list)) }
  const blocks = { fromBlock: formatQuantity(from), toBlock: formatQuantity(to) }
  const calls = [blockCall(from), ...filters.map((one) => logsCall(one, blocks))]
  const [block, ...lists] = await batch(calls, filter === undefined ? undefined : witness)
  const logs = lists.map(parseList)
  const known = new Set(logs[0]?.map(formatPosition))
  if (ofLast.flat().some((log) => !known.has(formatPosition(log)))) throw new NodeBehind(`lacks logs of block ${to}`)
  return { logs, first: parseBlockHeader(from, block), last }
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
