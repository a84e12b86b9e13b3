import { ChainBehind, ChainUnavailable } from '../../chain/errors.ts'
import type { LoggedTransfer } from '../../chain/transfer-log.ts'
import { RECIPIENTS_PER_READ_MAX, type TransfersRead } from '../../chain/transfer-reader.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { listAddresses, listWalletsAmong } from '../wallets/wallets-store.ts'

export type BlockRange = { readonly from: bigint; readonly to: bigint }

/** Whose transfers are asked for; null: everybody's, which are compared with the wallets here. */
export type Recipients = readonly Address[] | null

type ReadContext = Pick<Context, 'db' | 'chains'>

/**
 * Up to so many wallets of a mode, nodes are asked for the transfers to these wallets: three filters of a hundred. Above,
 * all transfers of USDC are read once and compared with the wallets here, which costs the same for any number of them.
 */
export const FILTERED_WALLETS_MAX = 300

/** Chooses whether to ask for the transfers to the wallets of a mode, or for everybody's. */
export async function chooseRecipients({ db }: ReadContext, mode: Mode): Promise<Recipients> {
  const wallets: Address[] = await db.runRelaxed(listAddresses(mode, null, FILTERED_WALLETS_MAX + 1))
  return wallets.length > FILTERED_WALLETS_MAX ? null : wallets
}

/**
 * Reads the transfers to wallets of the mode in a range of blocks. Throws `ChainUnavailable`, also when no node answers
 * for so many blocks, and `ChainBehind` when none has the last one yet.
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
    // Whoever fills a block with transfers of nothing, for little gas, must not keep us from the deposits in it.
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

/** Asks for the transfers to each wallet of the mode, page by page. Throws `ChainUnavailable` also when two pages met two forks. */
async function readByWallet({ db, chains }: ReadContext, mode: Mode, range: BlockRange): Promise<TransfersRead> {
  const transfers: LoggedTransfer[] = []
  let fork: TransfersRead | null = null
  for (let last: Address | null = null; ;) {
    const recipients: Address[] = await db.runRelaxed(listAddresses(mode, last, RECIPIENTS_PER_READ_MAX))
    const read = await chains[mode].readTransfers({ ...range, recipients })
    fork ??= read
    if (read.blockHash !== fork.blockHash || read.parentHash !== fork.parentHash) {
      throw new ChainUnavailable(`the ${mode} chain took blocks back while it was read`)
    }
    transfers.push(...read.transfers)
    last = recipients.at(-1) ?? null
    if (recipients.length < RECIPIENTS_PER_READ_MAX) return { ...fork, transfers }
  }
}
