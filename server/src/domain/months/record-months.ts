import type { Hash } from 'viem'
import { BALANCES_PER_BATCH_MAX } from '../../chain/balance-reader.ts'
import { ChainUnavailable } from '../../chain/errors.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { findMonthBlock } from './find-month-block.ts'
import { addMonths, FINAL_DEPTH, monthAt, MONTHS_MAX, startOfMonth, type Month, type MonthBlock } from './month.ts'
import {
  findOldestWallet,
  listMonthBlocks,
  listWalletsOfMonth,
  saveMonthBalances,
  saveMonthBlock,
  type MonthBalance,
  type WalletOfMonth,
} from './months-store.ts'

/** A wallet that was created so long after a month began certainly did not exist then, whichever clock is wrong. */
const CLOCK_ERROR_MS = 60 * 60_000
/**
 * How long to wait until balances are read again: at first so long, and then a tenth of the time since the month began,
 * so that an unreadable balance causes ever fewer requests.
 */
const RETRY_MS_MIN = 10_000
const RETRY_MS_MAX = 24 * 60 * 60_000
const RETRY_SHARE = 10

type MonthContext = Pick<Context, 'db' | 'chains' | 'clock' | 'logger'>

interface Job {
  readonly mode: Mode
  /** Extends the lease. Returns false if another process has it now. */
  readonly renewLease: () => Promise<boolean>
}

/**
 * Records for a mode with which block each month begins, and the balances of its wallets then (D90). They are read as
 * soon as the month has begun, because most nodes keep the state of the last 128 blocks only. Until the block is
 * `FINAL_DEPTH` deep, it is checked again, and read anew if a reorganization has replaced it.
 *
 * Also looks for the blocks of earlier months since the oldest wallet, one month in each call, the newest first. Their
 * balances can be read only if a node keeps all states. Balances that cannot be read are tried again ever less often.
 * @throws ChainUnavailable if the first block of a month cannot be looked for
 */
export async function recordMonths(ctx: MonthContext, job: Job): Promise<void> {
  const { mode } = job
  const now = ctx.clock.now()
  const [oldest, blocks] = await ctx.db.read([findOldestWallet(mode), listMonthBlocks(mode)])
  if (oldest === null) return
  const missing = listMonths(oldest, now).find((month) => blocks.every((block) => block.month !== month))
  const found = missing === undefined ? null : await find(ctx, { mode, month: missing, blocks })
  const due = blocks.filter(({ nextReadAt }) => nextReadAt !== null && nextReadAt <= now)
  for (const block of found === null ? due : [found, ...due]) {
    try {
      await readMonth(ctx, job, block)
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error
      ctx.logger.warn({ err: error, mode, month: block.month }, 'the balances at the turn of a month were not read')
    }
  }
}

/** Lists the months that began while there was a wallet, the newest first. */
function listMonths(oldest: Date, now: Date): Month[] {
  const months: Month[] = []
  const first = monthAt(oldest)
  for (let month = monthAt(now); month > first && months.length < MONTHS_MAX; month = addMonths(month, -1))
    months.push(month)
  return months
}

async function find(
  ctx: MonthContext,
  { mode, month, blocks }: { mode: Mode; month: Month; blocks: readonly MonthBlock[] },
): Promise<MonthBlock | null> {
  const chain = ctx.chains[mode]
  const newest = (await chain.readRecentHead()) - BigInt(chain.confirmations) + 1n
  const earlier = blocks.find((block) => block.month < month && block.isFinal)
  const found = await findMonthBlock(chain, { month, after: earlier?.firstBlock ?? 0n, newest })
  return found === null ? null : { month, ...found, isFinal: false, nextReadAt: ctx.clock.now() }
}

/** Checks the block of a month, and reads the balances that are missing. */
async function readMonth(ctx: MonthContext, job: Job, given: MonthBlock): Promise<void> {
  const { mode } = job
  // If anything fails below, the next try is already planned.
  const planned = { ...given, nextReadAt: nextReadAfter(given.month, ctx.clock.now()) }
  await ctx.db.write(saveMonthBlock(mode, planned))
  const block = await checkBlock(ctx, mode, planned)
  const isComplete = await readBalances(ctx, job, block)
  if (isComplete && block.isFinal) await ctx.db.write(saveMonthBlock(mode, { ...block, nextReadAt: null }))
}

function nextReadAfter(month: Month, now: Date): Date {
  const sinceMs = (now.getTime() - startOfMonth(month).getTime()) / RETRY_SHARE
  return new Date(now.getTime() + Math.min(Math.max(sinceMs, RETRY_MS_MIN), RETRY_MS_MAX))
}

/** Returns the block with which the month begins now, and stores it if it is another one, or has become final. */
async function checkBlock(ctx: MonthContext, mode: Mode, block: MonthBlock): Promise<MonthBlock> {
  if (block.isFinal) return block
  const chain = ctx.chains[mode]
  const head = await chain.readRecentHead()
  const { parentHash, seconds } = await chain.readBlock(block.firstBlock)
  const isSame = parentHash === block.parentHash && Number(seconds) * 1_000 >= startOfMonth(block.month).getTime()
  if (isSame && head - block.firstBlock + 1n < FINAL_DEPTH) return block
  const changed = isSame
    ? { ...block, isFinal: true }
    : await find(ctx, { mode, month: block.month, blocks: await ctx.db.read(listMonthBlocks(mode)) })
  if (!isSame) ctx.logger.warn({ mode, month: block.month }, 'the chain reorganized at the turn of a month')
  if (changed === null) return block
  await ctx.db.write(saveMonthBlock(mode, { ...changed, nextReadAt: block.nextReadAt }))
  return changed
}

/** Reads the balances that are missing. Returns false if the job must end before all of them are read. */
async function readBalances(ctx: MonthContext, { mode, renewLease }: Job, block: MonthBlock): Promise<boolean> {
  const { month, firstBlock, parentHash } = block
  const createdBefore = new Date(startOfMonth(month).getTime() + CLOCK_ERROR_MS)
  const place = { number: firstBlock - 1n, hash: parentHash as Hash }
  for (let after: Address | null = null; ;) {
    const page = { month, parentHash, createdBefore, after, limit: BALANCES_PER_BATCH_MAX }
    const wallets: WalletOfMonth[] = await ctx.db.read(listWalletsOfMonth(mode, page))
    const missing = wallets.filter(({ isMissing }) => isMissing)
    if (missing.length > 0) {
      const read = await ctx.chains[mode].readBalancesAfter(
        place,
        missing.map(({ address }) => address),
      )
      const balances = missing.flatMap(({ workspaceId, address }): MonthBalance[] => {
        const balanceMicro = read.get(address)
        return balanceMicro === undefined ? [] : [{ workspaceId, address, balanceMicro }]
      })
      await ctx.db.write(saveMonthBalances(mode, block, balances))
    }
    after = wallets.at(-1)?.address ?? null
    if (wallets.length < BALANCES_PER_BATCH_MAX) return true
    if (!(await renewLease())) return false
  }
}
