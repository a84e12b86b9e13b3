import { RpcRefusal, type FakeChain, type RpcCall } from './fake-chain.ts'

/** How nodes and providers reject a query for logs of too many blocks. */
export const RANGE_REFUSALS: readonly (readonly [name: string, code: number, message: string])[] = [
  ['erigon and reth', -32602, 'query exceeds max block range 5000'],
  ['infura', -32602, 'range 1000000 exceeds limit of 10000'],
  ['alchemy', -32600, 'You can make eth_getLogs requests with up to a 10 block range.'],
  ['quicknode', -32614, 'eth_getLogs is limited to a 10,000 range'],
  ['a limit of results', -32005, 'query returned more than 10000 results'],
  ['a limit without a reason', -32005, 'limit exceeded'],
  ['geth', -32000, 'block range is larger than max block range'],
  ['a limit of time', -32002, 'request timed out'],
  ['a limit of the response', -32008, 'response size exceeded'],
]

/** Returns how many blocks a query for logs covers; 1 for a query by a block's hash, and 0 for any other call. */
export function countBlocks({ method, params }: RpcCall): bigint {
  if (method !== 'eth_getLogs') return 0n
  const { blockHash, fromBlock = '0x0', toBlock = '0x0' } = params[0] as Readonly<Record<string, string>>
  return blockHash === undefined ? BigInt(toBlock) - BigInt(fromBlock) + 1n : 1n
}

/** Makes a node that rejects queries for logs of more than `blocksMax` blocks. */
export function limitLogRanges(
  blocksMax: bigint,
  { code = -32005, message = 'limit exceeded' }: { code?: number; message?: string } = {},
): FakeChain['intercept'] {
  return (call) => {
    if (countBlocks(call) > blocksMax) throw new RpcRefusal(code, message)
  }
}
