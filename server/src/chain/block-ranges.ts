import type { AdaptiveSize } from './adaptive-size.ts'
import { ChainBehind, ChainBusy, ChainRefusal, ChainUnavailable } from './errors.ts'

/** A range of blocks, including both ends. */
export type BlockRange = { readonly from: bigint; readonly to: bigint }

/** For how long a read is repeated with fewer blocks. Then it fails, and the next read begins with fewer blocks. */
const REPEATED_MS_MAX = 5_000

/**
 * Reads the first blocks of a range with one query for logs: as many blocks as nodes return at once, and at least one.
 * Returns what `read` returned, and the last block that it read. All queries for logs go through this function.
 *
 * Nodes limit the number of blocks, the number of logs, the size of the response or the time of a query. They reject a
 * query with many different codes and messages, or do not respond at all. So each failure counts as a rejection, and
 * the query is repeated with half as many blocks. If a node does not have the last blocks yet, they are left out too,
 * but `size` stays as it is.
 * @throws ChainUnavailable: `ChainBehind` if no node has the first block yet, `ChainRefusal` if it cannot be read for
 * another reason, `ChainBusy` if all nodes have asked us to wait.
 */
export async function readFirstBlocks<Result>(
  { from, to }: BlockRange,
  size: AdaptiveSize,
  read: (range: BlockRange) => Promise<Result>,
): Promise<{ readonly result: Result; readonly to: bigint }> {
  const limit = AbortSignal.timeout(REPEATED_MS_MAX)
  for (let blocks = smaller(size.max, to - from + 1n); ;) {
    const last = from + BigInt(blocks) - 1n
    try {
      const result = await read({ from, to: last })
      size.recordAnswer(blocks)
      return { result, to: last }
    } catch (error) {
      if (!(error instanceof ChainUnavailable) || error instanceof ChainBusy) throw error
      const isBehind = error instanceof ChainBehind
      if (!isBehind) size.recordRefusal(blocks)
      if (blocks === 1 && !isBehind) throw new ChainRefusal(error.message, { cause: error.cause })
      if (blocks === 1 || limit.aborted) throw error
      blocks = Math.floor(blocks / 2)
    }
  }
}

function smaller(size: number, blocks: bigint): number {
  return blocks < BigInt(size) ? Number(blocks) : size
}
