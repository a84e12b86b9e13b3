import type { Hash } from 'viem'
import { NodeBehind, NodeFault } from './errors.ts'
import { isRecord, type RpcCall } from './json-rpc.ts'
import { parseHash } from './parse-receipt.ts'
import { formatQuantity, parseQuantity } from './quantity.ts'
import type { Batch } from './rpc-nodes.ts'

export type BlockHeader = {
  readonly hash: Hash
  readonly parentHash: Hash
  /** The time of the block, in seconds by the chain's clock. */
  readonly seconds: bigint
}

export function blockCall(number: bigint): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [formatQuantity(number), false] }
}

/** Reads the header of a block. @throws NodeBehind if the node does not have the block. */
export async function readHeader(batch: Batch, number: bigint): Promise<BlockHeader> {
  const [block] = await batch([blockCall(number)])
  return parseBlockHeader(number, block)
}

/**
 * Parses a response of `eth_getBlockByNumber`. @throws NodeFault if the response is another block, or if the node does
 * not have the block.
 */
export function parseBlockHeader(number: bigint, block: unknown): BlockHeader {
  if (block === null) throw new NodeBehind(`has no block ${number}`)
  if (!isRecord(block) || parseQuantity(block['number']) !== number) throw new NodeFault('returned another block')
  const { hash, parentHash, timestamp } = block
  return { hash: parseHash(hash), parentHash: parseHash(parentHash), seconds: parseQuantity(timestamp) }
}
