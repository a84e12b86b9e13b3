import type { Hash } from 'viem'
import type { Address } from '../values/address.ts'
import { NodeFault } from './errors.ts'
import type { RpcCall } from './json-rpc.ts'
import { formatQuantity } from './quantity.ts'
import type { Batch, RpcNodes } from './rpc-nodes.ts'
import { TRANSFER_TOPIC } from './transfer-event.ts'
import { parseBlockHeader, parseTransferLogs, type BlockHeader, type LoggedTransfer } from './transfer-log.ts'

export type TransferRange = {
  /** The first block, not the genesis block. */
  readonly from: bigint
  /** The last block. */
  readonly to: bigint
  /** At most `RECIPIENTS_PER_READ_MAX`. Null: all recipients, so every USDC transfer in these blocks. */
  readonly recipients: readonly Address[] | null
}

export type TransfersRead = {
  /** In the chain's order. */
  readonly transfers: readonly LoggedTransfer[]
  /** Of the block before `from`, as these blocks continue it. */
  readonly parentHash: Hash
  /** Of the block `to`. */
  readonly blockHash: Hash
}

/** Nodes refuse filters with many more alternatives. */
const RECIPIENTS_PER_CALL_MAX = 100
/** Ten filters in a batch: each costs a node about as much as a hundred other calls. */
export const RECIPIENTS_PER_READ_MAX = 1_000

/** Reads USDC transfers from the chain's logs. */
export function createTransferReader(nodes: RpcNodes, usdc: Address) {
  /** @throws ChainUnavailable, also while no node has that block. */
  async function readBlockHash(number: bigint): Promise<Hash> {
    return await nodes.run(async (batch) => (await readHeader(batch, number)).hash)
  }

  /**
   * The transfers to `recipients` in a range of blocks, all of them from one fork: what was read stands in the chain that
   * `blockHash` ends and that follows on `parentHash`.
   * @throws ChainUnavailable, also when all nodes refuse the range as too wide, or have more than `LOGS_PER_READ_MAX`
   * logs in it; `ChainBehind` when no node has all of the blocks yet.
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
 * The last block's hash is read before, beside and after the logs, each in a request of its own. The same every time, it
 * is the fork that everything between belongs to. The one beside them, in the very request of the logs however many
 * requests those take, shows too that the machine which answered in the node's name knew the whole range: nodes leave
 * out silently what they have not yet seen.
 */
async function readRange(batch: Batch, usdc: Address, { from, to, recipients }: TransferRange): Promise<TransfersRead> {
  const before = await readHeader(batch, to)
  const filters = recipients === null ? [null] : splitRecipients(recipients)
  const besides: unknown[] = []
  const beside = { call: blockCall(to), keep: (answer: unknown) => void besides.push(answer) }
  const [first, ...logs] = await batch(
    [blockCall(from), ...filters.map((some) => logsCall(usdc, from, to, some))],
    beside,
  )
  const { hash } = await readHeader(batch, to)
  const hashesSeen = [before.hash, ...besides.map((answer) => parseBlockHeader(to, answer).hash)]
  if (hashesSeen.some((seen) => seen !== hash)) throw new NodeFault('reorganized while its blocks were read')
  const { hash: firstHash, parentHash } = parseBlockHeader(from, first)
  const hashes = new Map([[from, firstHash] as const, [to, hash] as const])
  const transfers = await parseTransferLogs({ contract: usdc, from, to, recipients, hashes }, logs)
  return { transfers, parentHash, blockHash: hash }
}

async function readHeader(batch: Batch, number: bigint): Promise<BlockHeader> {
  const [answer] = await batch([blockCall(number)])
  return parseBlockHeader(number, answer)
}

function blockCall(number: bigint): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [formatQuantity(number), false] }
}

function logsCall(usdc: Address, from: bigint, to: bigint, recipients: readonly Address[] | null): RpcCall {
  const wanted = recipients === null ? null : recipients.map(formatWord)
  const topics = [TRANSFER_TOPIC, null, wanted]
  const filter = { address: usdc, fromBlock: formatQuantity(from), toBlock: formatQuantity(to), topics }
  return { method: 'eth_getLogs', params: [filter] }
}

/** An address as the topic of an event: a word of 32 bytes. */
function formatWord(address: Address): string {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}

function splitRecipients(recipients: readonly Address[]): (readonly Address[])[] {
  const count = Math.ceil(recipients.length / RECIPIENTS_PER_CALL_MAX)
  return Array.from({ length: count }, (_, index) =>
    recipients.slice(index * RECIPIENTS_PER_CALL_MAX, (index + 1) * RECIPIENTS_PER_CALL_MAX),
  )
}
