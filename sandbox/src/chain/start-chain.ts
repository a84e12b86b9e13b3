import { rmSync } from 'node:fs'
import { callRpcNumber, callRpcString } from './call-rpc.ts'
import { installAccountContracts } from './install-account-contracts.ts'
import { advanceChainTime, mineBlocks, startMiner } from './miner.ts'
import { reorgChain } from './reorg-chain.ts'
import { startNode } from './start-node.ts'
import { writeState } from './state-file.ts'
import { recordNode, stopLeftoverNode } from './leftover-node.ts'
import { serialQueue } from './serial-queue.ts'

export type StartChainOptions = {
  readonly chainId: number
  readonly port: number
  /** The file for the chain's state. Further files have names that start with this name. */
  readonly stateFile: string
  /**
   * The time between two blocks, 1 second by default. With a shorter time, the blocks' timestamps run ahead of the real
   * time, because each block's timestamp is at least a whole second later than the previous block's.
   */
  readonly blockTimeSeconds?: number
  /** Called once, with a sentence, if the node exits without being stopped. */
  readonly onExit?: (detail: string) => void
}

export type Chain = {
  readonly rpcUrl: string
  readonly pid: number
  blockNumber(): Promise<number>
  /** Turns automatic mining on or off. While it is off, transactions wait. */
  setMining(enabled: boolean): void
  /** Mines `blocks` blocks immediately, even if automatic mining is off. */
  mine(blocks: number): Promise<void>
  /** Moves the chain's time forward, and mines a block with the new time. Time cannot be moved back. */
  advanceTime(seconds: number): Promise<void>
  /**
   * Replaces the last `blocks` blocks with empty ones. The transactions of the replaced blocks lose their receipts and
   * are mined again in later blocks.
   *
   * @throws Error if the node no longer has the state before these blocks. It has the states of the last 12 blocks, but
   * none from before its last start.
   */
  reorg(blocks: number): Promise<void>
  /** Saves the state immediately. It is also saved automatically, a few seconds after a transaction is mined. */
  save(): Promise<void>
  /** Saves the state and stops the node. A second call has no effect. */
  stop(): Promise<void>
}

/**
 * Starts a local EVM chain with one-second blocks on a loopback port. Continues from the state file if there is one.
 * Resolves once the node responds and the smart-account contracts are installed. Gas is free. An idle chain mines fewer
 * blocks (IDLE_BLOCK_MS).
 *
 * @throws Error with one sentence if the port is in use, anvil is missing, or the state cannot be read.
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
    // If the node has died, its state cannot be saved. The caller must still be able to stop everything else.
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
    advanceTime: (seconds) => enqueue(() => advanceChainTime(rpcUrl, seconds)).then(() => miner.touch()),
    reorg: (blocks) => enqueue(() => reorgChain(rpcUrl, blocks)).then(() => miner.touch()),
    save: () => enqueue(save),
    stop: () => (stopping ??= stop()),
  }
}

// We do not use anvil's own option --state, because anvil overwrites that file directly. If it is killed while writing,
// the file is incomplete and anvil does not start from it.
const saveState = async (rpcUrl: string, stateFile: string): Promise<void> => {
  const dump = await callRpcString(rpcUrl, 'anvil_dumpState')
  writeState(stateFile, Buffer.from(dump.slice(2), 'hex'))
}
