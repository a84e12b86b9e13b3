import type { Hash } from 'viem'
import type { Address } from '../values/address.ts'
import type { MicroUsdc } from '../values/money.ts'
import { balanceCall, parseBalance } from './balance-reader.ts'
import { blockCall, parseBlockHeader, readHeader, type BlockHeader } from './block-header.ts'
import { NodeFault } from './errors.ts'
import type { RpcNodes } from './rpc-nodes.ts'

/** A block by its number and its hash. */
export type BlockPlace = { readonly number: bigint; readonly hash: Hash }

/**
 * Makes functions that read an earlier block, and balances after it. Most nodes keep the state after the last 128
 * blocks only, and reject a call at an older block with many different messages. `nodes` is a list of its own, so such
 * a node stays in service for payments.
 */
export function createBlockReader(nodes: RpcNodes, usdc: Address) {
  /** Reads the header of a block. @throws ChainUnavailable */
  async function readBlock(number: bigint): Promise<BlockHeader> {
    return await nodes.run((batch) => readHeader(batch, number))
  }

  /**
   * Reads the USDC balances of addresses after a block, at most `BALANCES_PER_BATCH_MAX`. @throws ChainUnavailable,
   * also if no node has the state after this block any more, or if another block has replaced it.
   */
  async function readBalancesAfter(
    { number, hash }: BlockPlace,
    addresses: readonly Address[],
  ): Promise<ReadonlyMap<Address, MicroUsdc>> {
    return await nodes.run(async (batch) => {
      const calls = addresses.map((address) => balanceCall(usdc, address, number))
      const [block, ...words] = await batch([blockCall(number), ...calls])
      if (parseBlockHeader(number, block).hash !== hash) throw new NodeFault(`has another block ${number}`)
      return new Map(addresses.map((address, index) => [address, parseBalance(words[index])]))
    })
  }

  return { readBlock, readBalancesAfter }
}
