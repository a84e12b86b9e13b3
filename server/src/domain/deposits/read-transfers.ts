import { ChainBehind, ChainUnavailable } from '../../chain/errors.ts'
import type { LoggedTransfer } from '../../chain/transfer-log.ts'
import { RECIPIENTS_PER_READ_MAX, type TransfersRead } from '../../chain/transfer-reader.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { listAddresses, listWalletsAmong } from '../wallets/wallets-store.ts'

export type BlockRange = { readonly from: bigint; readonly to: bigint }

/** The wallets whose transfers nodes are asked for; null asks for every USDC transfer, and filters them here. */
export type Recipients = readonly Address[] | null

type ReadContext = Pick<Context, 'db' | 'chains'>

/**
 * Up to this many wallets of a mode, nodes are asked for the transfers to these wallets, in three filters of a hundred. If
 * there are more, all USDC transfers are read once and filtered here, which costs the same for any number of wallets.
 */
export const FILTERED_WALLETS_MAX = 300

/** Returns the wallets of a mode, or null if there are too many to ask for each of them. */
export async function chooseRecipients({ db }: ReadContext, mode: Mode): Promise<Recipients> {
  const wallets: Address[] = await db.runRelaxed(listAddresses(mode, null, FILTERED_WALLETS_MAX + 1))
  return wallets.length > FILTERED_WALLETS_MAX ? null : wallets
}

/**
 * Reads the transfers to wallets of the mode in a range of blocks. Throws `ChainUnavailable`, even if only because no node
 * accepts so wide a range, and `ChainBehind` if no node has the last block yet.
 */
export async function readTransfers(
  ctx: ReadContext,
  { mode, range, recipients }: { mode: Mode; range: BlockRange; recipients: Recipients },
): Promise<TransfersRead> {
  if (recipients !== null) return await ctx.chains[mode].readTransfers({ ...range, recipients })
  try {
    return await readAll(ctx, mode, range)
  } catch (error) {
    const isNarrowest = range.from === range.to
    if (!(error instanceof ChainUnavailable) || error instanceof ChainBehind || !isNarrowest) throw error
    // Anyone can fill a block with transfers of zero for little gas. That must not hide the deposits in it.
    return await readByWallet(ctx, mode, range)
  }
}

async function readAll(ctx: ReadContext, mode: Mode, range: BlockRange): Promise<TransfersRead> {
  const read = await ctx.chains[mode].readTransfers({ ...range, recipients: null })
  const addresses = new Set(read.transfers.map(({ to }) => to))
  if (addresses.size === 0) return read
  const wallets: ReadonlySet<Address> = new Set(await ctx.db.runRelaxed(listWalletsAmong(mode, [...addresses])))
  return { ...read, transfers: read.transfers.filter(({ to }) => wallets.has(to)) }
}

/** Reads the transfers to each wallet of the mode, page by page. Also throws `ChainUnavailable` if two pages came from two forks. */
async function readByWallet({ db, chains }: ReadContext, mode: Mode, range: BlockRange): Promise<TransfersRead> {
  const transfers: LoggedTransfer[] = []
  let fork: TransfersRead | null = null
  for (let last: Address | null = null; ;) {
    const recipients: Address[] = await db.runRelaxed(listAddresses(mode, last, RECIPIENTS_PER_READ_MAX))
    const read = await chains[mode].readTransfers({ ...range, recipients })
    fork ??= read
    if (read.blockHash !== fork.blockHash || read.parentHash !== fork.parentHash) {
      throw new ChainUnavailable(`the ${mode} chain reorganized while it was read`)
    }
    transfers.push(...read.transfers)
    last = recipients.at(-1) ?? null
    if (recipients.length < RECIPIENTS_PER_READ_MAX) return { ...fork, transfers }
  }
}
