import { encodeFunctionData } from 'viem/utils'
import type { Address } from '../values/address.ts'
import { coinOf, type GasFunds } from '../values/gas.ts'
import type { RpcCall } from './json-rpc.ts'
import { parseWord } from './quantity.ts'
import type { RpcNodes } from './rpc-nodes.ts'

/**
 * The gas limit that we assume for a USDC transfer. A transfer to an address without USDC takes about 62,000 gas on
 * Base, where USDC is a proxy contract.
 */
const TRANSFER_GAS = 100_000n
/**
 * A transaction offers up to twice the current gas price, because the price may double before the transaction is mined.
 */
const PRICE_MARGIN = 2n
/** The size of a signed transfer, which has about 180 bytes, rounded up. */
const TRANSFER_BYTES = 250n

/**
 * OP stack chains charge an additional fee for publishing the transaction on Ethereum. The contract at this address
 * returns that fee.
 */
const GAS_PRICE_ORACLE = '0x420000000000000000000000000000000000000F'
const OP_STACK_CHAINS: ReadonlySet<number> = new Set([10, 130, 480, 8453, 84532, 11155420])
const ORACLE_ABI = [
  {
    type: 'function',
    name: 'getL1FeeUpperBound',
    stateMutability: 'view',
    inputs: [{ name: 'unsignedTxSize', type: 'uint256' }],
    outputs: [{ name: '', type: 'uint256' }],
  },
] as const

/**
 * Makes functions that read how much native coin is in wallets that pay their own gas. We estimate the fee from the gas
 * price, not with `eth_estimateGas`, which also fails for reasons other than gas.
 */
export function createGasReader(nodes: RpcNodes, chainId: number) {
  const coin = coinOf(chainId)
  const publishing = OP_STACK_CHAINS.has(chainId) ? [publishingFeeCall()] : []

  /**
   * Reads an address's balance of native coin and the highest cost of one USDC transfer, in one round trip. @throws
   * ChainUnavailable
   */
  async function readGasFunds(address: Address): Promise<GasFunds> {
    return await nodes.run(async (batch) => {
      const calls = [balanceCall(address), { method: 'eth_gasPrice', params: [] }, ...publishing]
      const [balance, price, publishingFee = '0x'] = await batch(calls)
      const executionWei = TRANSFER_GAS * PRICE_MARGIN * parseWord(price)
      // A private chain may use the id of a public chain, but not have this contract.
      const publishingWei = publishingFee === '0x' ? 0n : PRICE_MARGIN * parseWord(publishingFee)
      return { coin, balanceWei: parseWord(balance), neededWei: executionWei + publishingWei }
    })
  }

  /** Reads an address's balance of native coin, in wei. @throws ChainUnavailable */
  async function readCoinBalance(address: Address): Promise<bigint> {
    return await nodes.run(async (batch) => {
      const [balance] = await batch([balanceCall(address)])
      return parseWord(balance)
    })
  }

  return { coin, readGasFunds, readCoinBalance }
}

function balanceCall(address: Address): RpcCall {
  return { method: 'eth_getBalance', params: [address, 'latest'] }
}

function publishingFeeCall(): RpcCall {
  const data = encodeFunctionData({ abi: ORACLE_ABI, functionName: 'getL1FeeUpperBound', args: [TRANSFER_BYTES] })
  return { method: 'eth_call', params: [{ to: GAS_PRICE_ORACLE, data }, 'latest'] }
}
