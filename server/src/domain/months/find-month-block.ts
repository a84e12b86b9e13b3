import type { Chain } from '../../chain/open-chain.ts'
import { startOfMonth, type Month, type MonthBlock } from './month.ts'

/** The blocks among which a month's first block is searched for. */
interface Search {
  readonly month: Month
  /** A block of an earlier month, or 0. */
  readonly after: bigint
  /** The newest block that is deep enough to be read. */
  readonly newest: bigint
}

/**
 * Finds the first block of a month, by the times of the blocks. Returns null if the chain has not reached the month.
 * Looks at ever larger distances before the newest block, and then halves the distance, so it reads at most about 120
 * headers, and few if the month has just begun. @throws ChainUnavailable
 */
export async function findMonthBlock(
  chain: Pick<Chain, 'readBlock'>,
  { month, after, newest }: Search,
): Promise<Pick<MonthBlock, 'firstBlock' | 'parentHash'> | null> {
  if (newest <= after) return null
  const startSeconds = BigInt(startOfMonth(month).getTime() / 1_000)
  let found = await chain.readBlock(newest)
  if (found.seconds < startSeconds) return null
  let low = after
  let high = newest
  for (let distance = 1n; high - low > 1n;) {
    const probe = distance < high - low ? high - distance : (low + high) / 2n
    const block = await chain.readBlock(probe)
    if (block.seconds < startSeconds) {
      low = probe
      // From here on, the distance is halved: a step of this size never fits again.
      distance = high
    } else {
      high = probe
      found = block
      distance *= 2n
    }
  }
  return { firstBlock: high, parentHash: found.parentHash }
}
