import { callRpc, callRpcBatch } from './call-rpc.ts'
import { ACTIVE_MS, IDLE_BLOCK_MS, MINE_BLOCKS_MAX, SAVE_INTERVAL_MS, SAVE_TIME_SHARE_MAX } from './limit.ts'
import type { Enqueue } from './serial-queue.ts'

type MinerOptions = {
  readonly rpcUrl: string
  readonly blockTimeMs: number
  readonly enqueue: Enqueue
  readonly save: () => Promise<void>
}

export type Miner = {
  setMining(enabled: boolean): void
  /**
   * Reports that something other than the miner changed the chain. The chain becomes active, and its state is saved.
   */
  touch(): void
  stop(): void
}

/**
 * Mines blocks on a timer. We do not use the node's own interval mining: it cannot be paused, and the node would keep
 * the state after each block for an hour.
 *
 * After a transaction, the chain is *active* for ACTIVE_MS and gets a block every block time. Then it is *idle*: until
 * the next transaction, it gets a block every IDLE_BLOCK_MS. After mining, the state is saved, unless the last save was
 * too recent.
 */
export const startMiner = ({ rpcUrl, blockTimeMs, enqueue, save }: MinerOptions): Miner => {
  let mining = true
  let height = 0
  let dirty = false
  let activeUntil = performance.now() + ACTIVE_MS
  let minedAt = performance.now()
  let saveAfter = 0

  const touch = (): void => {
    dirty = true
    activeUntil = performance.now() + ACTIVE_MS
  }
  const isDue = (hasWaiting: boolean): boolean => {
    const now = performance.now()
    return now < activeUntil || now - minedAt >= IDLE_BLOCK_MS || hasWaiting
  }
  const saveWhenDue = async (): Promise<void> => {
    const startedAt = performance.now()
    if (!dirty || startedAt < saveAfter) return
    dirty = false
    await save()
    const tookMs = performance.now() - startedAt
    saveAfter = performance.now() + Math.max(SAVE_INTERVAL_MS, tookMs / SAVE_TIME_SHARE_MAX)
  }
  const tick = async (): Promise<void> => {
    const found = await readChain(rpcUrl)
    // If a client has mined a block since the last tick, the chain becomes active too.
    if (height !== found.height) touch()
    ;({ height } = found)
    if (mining && isDue(found.hasWaiting)) {
      await callRpc(rpcUrl, 'evm_mine')
      minedAt = performance.now()
      const mined = await readChain(rpcUrl)
      if (mined.transactions > 0) touch()
      ;({ height } = mined)
    }
    await saveWhenDue()
  }

  let ticking = false
  const timer = setInterval(() => {
    // Skips this tick if the previous one is still running, so that ticks never pile up.
    if (ticking) return
    ticking = true
    // If the node died, its exit event reports that. If only one call failed, the next tick repeats it.
    void enqueue(tick)
      .catch(() => (dirty = true))
      .finally(() => (ticking = false))
  }, blockTimeMs)
  return { setMining: (enabled) => (mining = enabled), touch, stop: () => clearInterval(timer) }
}

/** Mines this many blocks immediately. @throws Error unless `blocks` is a whole number from 1 to MINE_BLOCKS_MAX. */
export const mineBlocks = async (rpcUrl: string, blocks: number): Promise<void> => {
  checkCount(blocks, MINE_BLOCKS_MAX)
  await callRpc(rpcUrl, 'anvil_mine', [blocks])
}

/** Moves the time of the next blocks forward, and mines one immediately. */
export const advanceChainTime = async (rpcUrl: string, seconds: number): Promise<void> => {
  await callRpc(rpcUrl, 'evm_increaseTime', [seconds])
  await callRpc(rpcUrl, 'evm_mine')
}

/** Checks a number of blocks. @throws Error unless `blocks` is a whole number from 1 to `blocksMax`. */
export const checkCount = (blocks: number, blocksMax: number): void => {
  if (Number.isSafeInteger(blocks) && blocks >= 1 && blocks <= blocksMax) return
  throw new Error(`the number of blocks must be a whole number from 1 to ${blocksMax}`)
}

type ChainState = {
  readonly height: number
  /** The number of transactions in the newest block. */
  readonly transactions: number
  /** Whether a transaction waits for a block. */
  readonly hasWaiting: boolean
}

const CHAIN_STATE_CALLS = [
  { method: 'eth_blockNumber', params: [] },
  { method: 'eth_getBlockTransactionCountByNumber', params: ['latest'] },
  { method: 'txpool_status', params: [] },
]

// One request, because this is read every second, also in an idle sandbox.
const readChain = async (rpcUrl: string): Promise<ChainState> => {
  const [height, transactions, status] = await callRpcBatch(rpcUrl, CHAIN_STATE_CALLS)
  const hasWaiting = typeof status === 'object' && status !== null && 'pending' in status && Number(status.pending) > 0
  return { height: Number(height), transactions: Number(transactions), hasWaiting }
}
