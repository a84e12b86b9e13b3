import { SharedReads } from '../lib/shared-reads.ts'
import { parseQuantity } from './quantity.ts'
import type { RpcNodes } from './rpc-nodes.ts'

/**
 * How long a head counts as recent. This is longer than the interval of the job that watches the chain, and shorter
 * than the time between two blocks.
 */
const HEAD_AGE_MS_MAX = 500

export const HEAD_CALL = { method: 'eth_blockNumber', params: [] } as const

/** Makes functions that read the number of the newest block. Callers that arrive during a read share the next read. */
export function createHeadReader(nodes: RpcNodes, onRead: (head: bigint) => void = () => undefined) {
  const reads = new SharedReads<bigint>()
  let recent: bigint | null = null
  let ending: NodeJS.Timeout | undefined

  async function readNow(): Promise<bigint> {
    const head = await nodes.run(async (batch) => parseQuantity((await batch([HEAD_CALL]))[0]))
    recent = head
    onRead(head)
    clearTimeout(ending)
    ending = setTimeout(() => {
      recent = null
    }, HEAD_AGE_MS_MAX).unref()
    return head
  }

  return {
    /** Reads the number of the newest block. @throws ChainUnavailable */
    readHead: (): Promise<bigint> => reads.read('head', readNow),
    /**
     * Returns the number of the newest block, which may have been read up to `HEAD_AGE_MS_MAX` ago. For work that is
     * not urgent. @throws ChainUnavailable
     */
    readRecentHead: async (): Promise<bigint> => recent ?? (await reads.read('head', readNow)),
  }
}
