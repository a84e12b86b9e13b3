import type { Hash } from 'viem'
import type { Address } from '../values/address.ts'
import { NodeFault } from './errors.ts'
import type { RpcCall } from './json-rpc.ts'
import { formatQuantity } from './quantity.ts'
import type { Batch, RpcNodes } from './rpc-nodes.ts'
import { formatAddressTopic, TRANSFER_TOPIC } from './transfer-event.ts'
import { parseBlockHeader, parseTransferLogs, type BlockHeader, type LoggedTransfer } from './transfer-log.ts'

export type TransferRange = {
  /** The first block. It must not be block 0. */
  readonly from: bigint
  /** The last block. */
  readonly to: bigint
  /**
   * Only transfers to these recipients, at most `RECIPIENTS_PER_READ_MAX`. Null for every USDC transfer in these
   * blocks.
   */
  readonly recipients: readonly Address[] | null
}

export type TransfersRead = {
  /** In the chain's order. */
  readonly transfers: readonly LoggedTransfer[]
  /** The hash of the block before `from`. */
  readonly parentHash: Hash
  /** The hash of the block `to`. */
  readonly blockHash: Hash
}

/** The most recipients in one filter. Nodes reject filters with many more. */
const RECIPIENTS_PER_CALL_MAX = 100
/**
 * The most recipients in one read. A read with so many recipients has ten filters in one batch. A filter costs a node
 * about as much as a hundred other calls.
 */
export const RECIPIENTS_PER_READ_MAX = 1_000

/** Makes functions that read USDC transfers from the chain's logs. */
export function createTransferReader(nodes: RpcNodes, usdc: Address) {
  /** Reads the hash of a block. @throws ChainUnavailable, also if no node has this block. */
  async function readBlockHash(number: bigint): Promise<Hash> {
    return await nodes.run(async (batch) => (await readHeader(batch, number)).hash)
  }

  /**
   * Reads the transfers to `recipients` in a range of blocks. All of them belong to one fork of the chain: the block
   * before the range has the hash `parentHash`, and its last block has the hash `blockHash`.
   * @throws ChainUnavailable, also if all nodes reject the range as too wide, or return more than `LOGS_PER_READ_MAX`
   * logs for it; `ChainBehind` if no node has all of the blocks yet.
   */
  async function readTransfers(range: TransferRange): Promise<TransfersRead> {
    if (range.from < 1n || range.from > range.to) throw new RangeError(`no blocks from ${range.from} to ${range.to}`)
    if (range.recipients !== null && range.recipients.length > RECIPIENTS_PER_READ_MAX)
      throw new RangeError('too many recipients at once')
    return await nodes.run((batch) => readRange(batch, usdc, range))
  }

  return { readBlockHash, readTransfers }
}

/**
 * Reads the hash of the last block three times: before the logs, together with the logs, and after them. If the hash is
 * always the same, all logs belong to one fork. Nodes silently leave out the logs of blocks that they do not have. So
 * every request for logs also asks for the last block, which proves that the machine that responded had the whole
 * range.
 */
async function readRange(batch: Batch, usdc: Address, { from, to, recipients }: TransferRange): Promise<TransfersRead> {
  const before = await readHeader(batch, to)
  const filters = recipients === null ? [null] : splitRecipients(recipients)
  const witnessed: unknown[] = []
  const witness = { call: blockCall(to), keep: (block: unknown) => void witnessed.push(block) }
  const [first, ...logs] = await batch(
    [blockCall(from), ...filters.map((some) => logsCall(usdc, from, to, some))],
    witness,
  )
  const { hash } = await readHeader(batch, to)
  const hashesSeen = [before.hash, ...witnessed.map((block) => parseBlockHeader(to, block).hash)]
  if (hashesSeen.some((seen) => seen !== hash)) throw new NodeFault('reorganized while its blocks were read')
  const { hash: firstHash, parentHash } = parseBlockHeader(from, first)
  const hashes = new Map([[from, firstHash] as const, [to, hash] as const])
  const transfers = await parseTransferLogs({ contract: usdc, from, to, recipients, hashes }, logs)
  return { transfers, parentHash, blockHash: hash }
}

async function readHeader(batch: Batch, number: bigint): Promise<BlockHeader> {
  const [block] = await batch([blockCall(number)])
  return parseBlockHeader(number, block)
}

function blockCall(number: bigint): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [formatQuantity(number), false] }
}

function logsCall(usdc: Address, from: bigint, to: bigint, recipients: readonly Address[] | null): RpcCall {
  const wanted = recipients === null ? null : recipients.map(formatAddressTopic)
  const topics = [TRANSFER_TOPIC, null, wanted]
  const filter = { address: usdc, fromBlock: formatQuantity(from), toBlock: formatQuantity(to), topics }
  return { method: 'eth_getLogs', params: [filter] }
}

function splitRecipients(recipients: readonly Address[]): (readonly Address[])[] {
  const count = Math.ceil(recipients.length / RECIPIENTS_PER_CALL_MAX)
  return Array.from({ length: count }, (_, index) =>
    recipients.slice(index * RECIPIENTS_PER_CALL_MAX, (index + 1) * RECIPIENTS_PER_CALL_MAX),
  )
}
