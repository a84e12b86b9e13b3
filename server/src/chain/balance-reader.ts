import { setImmediate } from 'node:timers/promises'
import { encodeFunctionData } from 'viem/utils'
import type { Address } from '../values/address.ts'
import { erc20Abi } from '../values/erc20.ts'
import { microUsdc, type MicroUsdc } from '../values/money.ts'
import { NodeBehind, NodeFault } from './errors.ts'
import type { RpcCall } from './json-rpc.ts'
import { formatQuantity, parseQuantity } from './quantity.ts'
import type { Batch, RpcNodes } from './rpc-nodes.ts'

export type Balance = { readonly balanceMicro: MicroUsdc; readonly blockNumber: bigint }

type Round = { readonly addresses: Set<Address>; readonly balances: Promise<ReadonlyMap<Address, Balance>> }

/** Public nodes reject batches with more than a certain number of calls, which is between 100 and 1,000. */
export const BALANCES_PER_BATCH_MAX = 100
/**
 * One node address may have several machines behind it, which differ by a block or two. If the machine that we reach
 * does not have the head block, we read the balance up to this many blocks earlier.
 */
const BLOCKS_BEHIND_MAX = 3n
const WORD_PATTERN = /^0x[0-9a-fA-F]{64}$/

/**
 * Makes a function that reads balances. All balances that are requested in the same turn of the event loop are read
 * together: one request for the head block, one batch for the balances. Several payments at the same time then cost two
 * HTTP requests together, and not two for each payment. Every balance is read after it was requested.
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
 * Reads the number of the head block first, then the balances at that block from the same node. So all balances belong
 * to one block. A node address may have several machines behind it, and the second request may reach a machine that
 * does not have the head block yet. Then we read the balances one block earlier, and so on. An earlier block is good
 * enough, because we know the payments after it from our own records (D26).
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
  const words = await batch(addresses.map((address) => balanceCall(usdc, address, blockNumber)))
  return new Map(addresses.map((address, i) => [address, { balanceMicro: parseBalance(words[i]), blockNumber }]))
}

/** The call that reads an address's USDC balance after a block. */
export function balanceCall(usdc: Address, address: Address, blockNumber: bigint): RpcCall {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address] })
  return { method: 'eth_call', params: [{ to: usdc, data }, formatQuantity(blockNumber)] }
}

/**
 * Parses a balance. If there is no contract at the address, a node returns `0x`, which must not count as a balance of
 * zero.
 */
export function parseBalance(word: unknown): MicroUsdc {
  if (typeof word !== 'string' || !WORD_PATTERN.test(word))
    throw new NodeFault('has no USDC contract at the configured address')
  return microUsdc(BigInt(word))
}
