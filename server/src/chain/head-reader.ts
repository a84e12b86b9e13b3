import { SharedReads } from '../lib/shared-reads.ts'
import { parseQuantity } from './quantity.ts'
import type { RpcNodes } from './rpc-nodes.ts'

/** How long a head counts as recent: longer than the watcher's interval, shorter than a block takes. */
const HEAD_AGE_MS_MAX = 500

export const HEAD_CALL = { method: 'eth_blockNumber', params: [] } as const

/** Reads the newest block's number. Callers that ask while it is being read share the next read. */
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
    /** Reads the newest block's number. @throws ChainUnavailable */
    readHead: (): Promise<bigint> => reads.read('head', readNow),
    /** Returns the newest block's number, at most `HEAD_AGE_MS_MAX` old, for work that can wait. @throws ChainUnavailable */
    readRecentHead: async (): Promise<bigint> => recent ?? (await reads.read('head', readNow)),
  }
}
