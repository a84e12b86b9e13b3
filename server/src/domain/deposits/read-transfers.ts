import { ADDRESSES_PER_READ_MAX } from '../../chain/address-filters.ts'
import { ChainRefusal, ChainUnavailable } from '../../chain/errors.ts'
import type { BlockRange } from '../../chain/block-ranges.ts'
import type { LoggedTransfer } from '../../chain/transfer-log.ts'
import type { TransferRange, TransfersRead } from '../../chain/transfer-reader.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { listAddresses, listWalletsAmong } from '../wallets/wallets-store.ts'

/** The wallets to ask nodes about. Null means that nodes are asked for all USDC transfers, and we filter the result. */
export type Recipients = readonly Address[] | null

type ReadContext = Pick<Context, 'db' | 'chains'>

type ReadRequest = Pick<TransferRange, 'isSecond'> & {
  readonly mode: Mode
  readonly range: BlockRange
  readonly recipients: Recipients
}

/**
 * If a mode has at most this many wallets, nodes are asked only for transfers to these wallets, with up to three
 * filters of a hundred wallets each. If it has more, all USDC transfers are read once and filtered here, which costs
 * the same for any number of wallets.
 */
export const FILTERED_WALLETS_MAX = 300

/** Returns the wallets of a mode, or null if there are too many to ask nodes about each of them. */
export async function chooseRecipients({ db }: ReadContext, mode: Mode): Promise<Recipients> {
  const wallets: Address[] = await db.read(listAddresses(mode, null, FILTERED_WALLETS_MAX + 1))
  return wallets.length > FILTERED_WALLETS_MAX ? null : wallets
}

/**
 * Reads the transfers to wallets of the mode in the first blocks of a range, as many as nodes return at once. Throws
 * `ChainUnavailable` if every node fails or rejects even the first block. Throws `ChainBehind` if no node has the first
 * block yet.
 */
export async function readTransfers(ctx: ReadContext, request: ReadRequest): Promise<TransfersRead> {
  const { mode, range, recipients, ...options } = request
  if (recipients !== null) return await ctx.chains[mode].readTransfers({ ...range, ...options, recipients })
  try {
    return await readAll(ctx, request)
  } catch (error) {
    if (!(error instanceof ChainRefusal)) throw error
    // Nodes may refuse a block with too many transfers. Anyone can fill a block with transfers of zero for little gas,
    // and that must not hide the deposits in the block.
    return await readByWallet(ctx, { ...request, range: { from: range.from, to: range.from } })
  }
}

async function readAll(ctx: ReadContext, { mode, range, ...options }: ReadRequest): Promise<TransfersRead> {
  const read = await ctx.chains[mode].readTransfers({ ...range, ...options, recipients: null })
  const addresses = new Set(read.transfers.map(({ to }) => to))
  if (addresses.size === 0) return read
  const wallets: ReadonlySet<Address> = new Set(await ctx.db.read(listWalletsAmong(mode, [...addresses])))
  return { ...read, transfers: read.transfers.filter(({ to }) => wallets.has(to)) }
}

/**
 * Reads the transfers to the mode's wallets, for one page of wallets at a time. If the chain reorganized between two
 * pages, throws `ChainUnavailable`, because the pages would then show different blocks.
 */
async function readByWallet(
  { db, chains }: ReadContext,
  { mode, range, ...options }: ReadRequest,
): Promise<TransfersRead> {
  const transfers: LoggedTransfer[] = []
  let fork: TransfersRead | null = null
  for (let last: Address | null = null; ;) {
    const recipients: Address[] = await db.read(listAddresses(mode, last, ADDRESSES_PER_READ_MAX))
    const read = await chains[mode].readTransfers({ ...range, ...options, recipients })
    fork ??= read
    if (read.blockHash !== fork.blockHash || read.parentHash !== fork.parentHash) {
      throw new ChainUnavailable(`the ${mode} chain reorganized while it was read`)
    }
    transfers.push(...read.transfers)
    last = recipients.at(-1) ?? null
    if (recipients.length < ADDRESSES_PER_READ_MAX) return { ...fork, transfers }
  }
}
