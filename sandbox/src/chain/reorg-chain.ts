import { callRpc, callRpcNumber, callRpcString } from './call-rpc.ts'
import { REORG_BLOCKS_MAX } from './limit.ts'
import { checkCount } from './miner.ts'

/**
 * Replaces the last `blocks` blocks with the same number of empty blocks. The transactions of the replaced blocks
 * return to the pool in their order, as when a real node switches to a longer branch.
 *
 * @throws Error if the chain has fewer blocks, or if the node no longer has the state before the replaced blocks.
 */
export const reorgChain = async (rpcUrl: string, blocks: number): Promise<void> => {
  checkCount(blocks, REORG_BLOCKS_MAX)
  const height = await callRpcNumber(rpcUrl, 'eth_blockNumber')
  if (blocks > height) throw new Error(`the chain has only ${height} blocks to reorganize`)
  const orphaned = await listRawTransactions(rpcUrl, height - blocks + 1, height)
  await callRpc(rpcUrl, 'anvil_reorg', [blocks, []])
  for (const raw of orphaned) await callRpcString(rpcUrl, 'eth_sendRawTransaction', [raw])
}

const listRawTransactions = async (rpcUrl: string, first: number, last: number): Promise<string[]> => {
  const raws: string[] = []
  for (let number = first; number <= last; number += 1) {
    const block = `0x${number.toString(16)}`
    const count = await callRpcNumber(rpcUrl, 'eth_getBlockTransactionCountByNumber', [block])
    for (let index = 0; index < count; index += 1) {
      const params = [block, `0x${index.toString(16)}`]
      raws.push(await callRpcString(rpcUrl, 'eth_getRawTransactionByBlockNumberAndIndex', params))
    }
  }
  return raws
}
