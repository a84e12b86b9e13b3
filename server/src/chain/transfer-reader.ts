import type { Hash } from 'viem'
import type { Address } from '../values/address.ts'
import { splitAddressTopics } from './address-filters.ts'
import { AdaptiveSize, BLOCKS_PER_FULL_QUERY } from './adaptive-size.ts'
import { readHeader } from './block-header.ts'
import { readFirstBlocks } from './block-ranges.ts'
import { NodeFault } from './errors.ts'
import { readLogs } from './log-query.ts'
import type { Batch, RpcNodes } from './rpc-nodes.ts'
import { TRANSFER_TOPIC } from './transfer-event.ts'
import { parseTransferLogs, type LoggedTransfer } from './transfer-log.ts'

export type TransferRange = {
  /** The first block. It must not be block 0. */
  readonly from: bigint
  /** The last block. */
  readonly to: bigint
  /**
   * Only transfers to these recipients, at most `ADDRESSES_PER_READ_MAX`. Null for every USDC transfer in these
   * blocks.
   */
  readonly recipients: readonly Address[] | null
  /** Whether these blocks are read a second time. Then the last node is asked first. By default, it is false. */
  readonly isSecond?: boolean
}

export type TransfersRead = {
  /** In the chain's order. */
  readonly transfers: readonly LoggedTransfer[]
  /** The last block that was read. It may be before the end of the requested range. */
  readonly to: bigint
  /** The hash of the block before `from`. */
  readonly parentHash: Hash
  /** The hash of the last block that was read. */
  readonly blockHash: Hash
}

/**
 * Makes functions that read USDC transfers from the chain's logs. `size` is how many blocks a query for the transfers
 * to certain recipients covers.
 */
export function createTransferReader(
  { nodes, secondNodes }: { nodes: RpcNodes; secondNodes: RpcNodes },
  { usdc, size }: { usdc: Address; size: AdaptiveSize },
) {
  // A query for all transfers returns many more logs, so nodes reject it at another number of blocks.
  const fullSize = new AdaptiveSize(BLOCKS_PER_FULL_QUERY)

  /** Reads the hash of a block. @throws ChainUnavailable, also if no node has this block. */
  async function readBlockHash(number: bigint): Promise<Hash> {
    return await nodes.run(async (batch) => (await readHeader(batch, number)).hash)
  }

  /**
   * Reads the transfers to `recipients` in the first blocks of a range, as many as nodes return at once. All of them
   * belong to one fork of the chain: the block before the range has the hash `parentHash`, and the last block that was
   * read has the hash `blockHash`.
   * @throws ChainUnavailable, also if all nodes reject even a single block, or return more than `LOGS_PER_READ_MAX` logs
   * for it; `ChainBehind` if no node has the first block yet.
   */
  async function readTransfers(range: TransferRange): Promise<TransfersRead> {
    if (range.from < 1n || range.from > range.to) throw new RangeError(`no blocks from ${range.from} to ${range.to}`)
    const { recipients, isSecond = false } = range
    const { result, to } = await readFirstBlocks(range, recipients === null ? fullSize : size, (blocks) =>
      (isSecond ? secondNodes : nodes).run((batch) => readRange(batch, usdc, { ...blocks, recipients })),
    )
    return { ...result, to }
  }

  return { readBlockHash, readTransfers }
}

/**
 * If the blocks were not read by their hashes, reads the hash of the last block again after the logs. If it is still the
 * same, all logs belong to one fork.
 */
async function readRange(
  batch: Batch,
  usdc: Address,
  { from, to, recipients }: TransferRange,
): Promise<Omit<TransfersRead, 'to'>> {
  const chunks = recipients === null ? [null] : splitAddressTopics(recipients)
  const filters = chunks.map((some) => ({ address: usdc, topics: [TRANSFER_TOPIC, null, some] }))
  const { logs, first, last, isComplete } = await readLogs(batch, filters, { from, to })
  const isSameFork = isComplete || (await readHeader(batch, to)).hash === last.hash
  if (!isSameFork) throw new NodeFault('reorganized while its blocks were read')
  const hashes = new Map([[from, first.hash] as const, [to, last.hash] as const])
  const transfers = await parseTransferLogs({ contract: usdc, from, to, recipients, hashes }, logs.flat())
  return { transfers, parentHash: first.parentHash, blockHash: last.hash }
}
