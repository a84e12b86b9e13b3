import { rmSync } from 'node:fs'
import { callRpcNumber, callRpcString } from './call-rpc.ts'
import { installAccountContracts } from './install-account-contracts.ts'
import { mineBlocks, startMiner } from './miner.ts'
import { reorgChain } from './reorg-chain.ts'
import { startNode } from './start-node.ts'
import { writeState } from './state-file.ts'
import { recordNode, stopLeftoverNode } from './leftover-node.ts'
import { serialQueue } from './serial-queue.ts'

export type StartChainOptions = {
  readonly chainId: number
  readonly port: number
  /** The chain is kept here, and in files whose names begin with this one's. */
  readonly stateFile: string
  /** 1 by default. A fraction makes blocks faster than the clock that is in them, which counts whole seconds. */
  readonly blockTimeSeconds?: number
  /** Called once when the node ends unasked, with a sentence. */
  readonly onExit?: (detail: string) => void
}

export type Chain = {
  readonly rpcUrl: string
  readonly pid: number
  blockNumber(): Promise<number>
  /** Whether blocks come by themselves. Transactions wait while they don't. */
  setMining(enabled: boolean): void
  /** Mines `blocks` blocks now, be mining on or off. */
  mine(blocks: number): Promise<void>
  /**
   * Replaces the last `blocks` blocks by other, empty ones. The transactions in them lose their receipts and wait to be
   * mined again, in later blocks.
   *
   * @throws Error when that is deeper than the node remembers: 12 blocks, and none from before its last start.
   */
  reorg(blocks: number): Promise<void>
  /** Writes the state now. It is also written by itself, seconds after a transaction was mined. */
  save(): Promise<void>
  /** Writes the state and ends the node. May be called twice. */
  stop(): Promise<void>
}

/**
 * Starts a local EVM chain with one-second blocks on a loopback port, where it left off if its state file exists, and
 * resolves when it answers and has the contracts of smart accounts. Gas is free. Blocks are rarer while nothing happens (IDLE_BLOCK_MS).
 *
 * @throws Error with one sentence when the port is in use, anvil is missing, or the state can't be read.
 */
export const startChain = async (options: StartChainOptions): Promise<Chain> => {
  const { stateFile, blockTimeSeconds = 1 } = options
  await stopLeftoverNode(stateFile, (rpcUrl) => saveState(rpcUrl, stateFile))
  const node = await startNode(options)
  const { rpcUrl, pid } = node
  recordNode(stateFile, { pid, rpcUrl })
  try {
    await installAccountContracts(rpcUrl)
  } catch (error) {
    await node.stop()
    throw error
  }
  const enqueue = serialQueue()
  const save = (): Promise<void> => saveState(rpcUrl, stateFile)
  const miner = startMiner({ rpcUrl, blockTimeMs: blockTimeSeconds * 1_000, enqueue, save })
  node.onExit((detail) => {
    miner.stop()
    options.onExit?.(detail)
  })
  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    miner.stop()
    // A node that died has nothing to save; what matters then is that everything else stops too.
    await enqueue(save).catch(() => undefined)
    await node.stop()
    rmSync(`${stateFile}.pid`, { force: true })
  }
  return {
    rpcUrl,
    pid,
    blockNumber: () => callRpcNumber(rpcUrl, 'eth_blockNumber'),
    setMining: (enabled) => miner.setMining(enabled),
    mine: (blocks) => enqueue(() => mineBlocks(rpcUrl, blocks)).then(() => miner.touch()),
    reorg: (blocks) => enqueue(() => reorgChain(rpcUrl, blocks)).then(() => miner.touch()),
    save: () => enqueue(save),
    stop: () => (stopping ??= stop()),
  }
}

// anvil writes its own --state file in place: a kill at that moment leaves half of it, and it refuses to start from that.
const saveState = async (rpcUrl: string, stateFile: string): Promise<void> => {
  const dump = await callRpcString(rpcUrl, 'anvil_dumpState')
  writeState(stateFile, Buffer.from(dump.slice(2), 'hex'))
}
