import { SharedReads } from '../lib/shared-reads.ts'
import { parseQuantity } from './quantity.ts'
import type { RpcNodes } from './rpc-nodes.ts'

/** A head that was read so long ago is recent: above the time in which payments are looked at again, below a block's. */
const HEAD_AGE_MS_MAX = 500

export const HEAD_CALL = { method: 'eth_blockNumber', params: [] } as const

/** Reads the newest block's number. Those who ask while it is being read share the next reading. */
export function createHeadReader(nodes: RpcNodes) {
  const reads = new SharedReads<bigint>()
  let recent: bigint | null = null
  let ending: NodeJS.Timeout | undefined

  async function readNow(): Promise<bigint> {
    const head = await nodes.run(async (batch) => parseQuantity((await batch([HEAD_CALL]))[0]))
    recent = head
    clearTimeout(ending)
    ending = setTimeout(() => {
      recent = null
    }, HEAD_AGE_MS_MAX).unref()
    return head
  }

  return {
    /** The newest block's number. @throws ChainUnavailable */
    readHead: (): Promise<bigint> => reads.read('head', readNow),
    /** The newest block's number as it was at most `HEAD_AGE_MS_MAX` ago, for work that can wait. @throws ChainUnavailable */
    readRecentHead: async (): Promise<bigint> => recent ?? (await reads.read('head', readNow)),
  }
}
