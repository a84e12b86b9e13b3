import { setImmediate } from 'node:timers/promises'
import { encodeFunctionData } from 'viem/utils'
import type { Address } from '../values/address.ts'
import { erc20Abi } from '../values/erc20.ts'
import { microUsdc, type MicroUsdc } from '../values/money.ts'
import { NodeBehind, NodeFault } from './errors.ts'
import { formatQuantity, parseQuantity } from './quantity.ts'
import type { Batch, RpcNodes } from './rpc-nodes.ts'

export type Balance = { readonly balanceMicro: MicroUsdc; readonly blockNumber: bigint }

type Round = { readonly addresses: Set<Address>; readonly balances: Promise<ReadonlyMap<Address, Balance>> }

/** Public nodes refuse batches above a limit between 100 and 1,000 calls. */
const BALANCES_PER_BATCH_MAX = 100
/** The machines behind one address differ by a block or two: how many blocks back a balance may be read if one lags. */
const BLOCKS_BEHIND_MAX = 3n
const WORD_PATTERN = /^0x[0-9a-fA-F]{64}$/

/**
 * Reads balances. Balances that are requested in the same turn of the event loop share one round: one head, one batch. A
 * burst of payments thus costs two HTTP requests, not two each, and every balance is read after it was requested.
 */
export function createBalanceReader(nodes: RpcNodes, usdc: Address) {
  let gathering: Round | null = null

  function startRound(): Round {
    const addresses = new Set<Address>()
    return { addresses, balances: finishRound(addresses) }
  }

  async function finishRound(addresses: Set<Address>): Promise<ReadonlyMap<Address, Balance>> {
    await setImmediate()
    if (gathering?.addresses === addresses) gathering = null
    return await nodes.run((batch) => readBalances(batch, usdc, [...addresses]))
  }

  return async function readBalance(address: Address): Promise<Balance> {
    const round = (gathering ??= startRound())
    round.addresses.add(address)
    if (round.addresses.size >= BALANCES_PER_BATCH_MAX) gathering = null
    const balance = (await round.balances).get(address)
    if (balance === undefined) throw new Error('a requested balance is missing from its round')
    return balance
  }
}

/**
 * Reads the head's number first, then the balances at that number from the same node, so that all belong to one block.
 * Several machines may answer for one node, and the second one may not have that block yet. Then the block before is good
 * enough, because payments after it are known from our own records (D26).
 */
async function readBalances(
  batch: Batch,
  usdc: Address,
  addresses: readonly Address[],
): Promise<Map<Address, Balance>> {
  const [headQuantity] = await batch([{ method: 'eth_blockNumber', params: [] }])
  const head = parseQuantity(headQuantity)
  for (let behind = 0n; ; behind += 1n) {
    try {
      return await readBalancesAt(batch, usdc, { addresses, blockNumber: head - behind })
    } catch (error) {
      if (!(error instanceof NodeBehind) || behind >= BLOCKS_BEHIND_MAX || behind >= head) throw error
    }
  }
}

async function readBalancesAt(
  batch: Batch,
  usdc: Address,
  { addresses, blockNumber }: { addresses: readonly Address[]; blockNumber: bigint },
): Promise<Map<Address, Balance>> {
  const at = formatQuantity(blockNumber)
  const words = await batch(
    addresses.map((address) => ({
      method: 'eth_call',
      params: [
        { to: usdc, data: encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address] }) },
        at,
      ],
    })),
  )
  return new Map(addresses.map((address, i) => [address, { balanceMicro: parseBalance(words[i]), blockNumber }]))
}

/** For a missing contract a node returns `0x`, which must not count as a balance of zero. */
function parseBalance(word: unknown): MicroUsdc {
  if (typeof word !== 'string' || !WORD_PATTERN.test(word))
    throw new NodeFault('has no USDC contract at the configured address')
  return microUsdc(BigInt(word))
}
