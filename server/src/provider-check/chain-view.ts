import type { Hash, Hex } from 'viem'
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils'
import { ERC1271_ABI, ERC1271_VALID } from '../chain/account-reader.ts'
import { NodeFault } from '../chain/errors.ts'
import { isRecord, openEndpoint, postBatch } from '../chain/json-rpc.ts'
import { parseQuantity, parseWord } from '../chain/quantity.ts'
import type { ChainSettings } from '../config.ts'
import type { EgressProxy } from '../lib/outbound/egress-proxy.ts'
import type { Address } from '../values/address.ts'
import { erc20Abi } from '../values/erc20.ts'

export type ChainView = ReturnType<typeof openChainView>

const CALL_MS_MAX = 10_000
const ADDRESS_WORD_PREFIX = `0x${'0'.repeat(24)}`

/**
 * Makes functions that read the test chain, from its first node. Only the provider check needs these functions.
 * @throws NodeFault
 */
export function openChainView({ rpcUrls, usdc }: Pick<ChainSettings, 'rpcUrls' | 'usdc'>, proxy: EgressProxy | null) {
  const endpoint = openEndpoint(rpcUrls[0] ?? '', proxy)

  async function ask(method: string, params: readonly unknown[]): Promise<unknown> {
    const [result] = await postBatch(endpoint, [{ method, params }], AbortSignal.timeout(CALL_MS_MAX))
    return result
  }

  return {
    readChainId: async (): Promise<bigint> => parseQuantity(await ask('eth_chainId', [])),
    readCode: async (address: Address): Promise<string> => String(await ask('eth_getCode', [address, 'latest'])),
    readUsdc: async (address: Address): Promise<bigint> => {
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address] })
      return parseWord(await ask('eth_call', [{ to: usdc, data }, 'latest']))
    },
    /** Returns whether the transaction is mined and has moved exactly this amount of USDC from `from` to `to`. */
    hasTransfer: async (hash: Hash, move: { from: Address; to: Address; amountMicro: bigint }): Promise<boolean> => {
      const receipt = await ask('eth_getTransactionReceipt', [hash])
      const logs = isRecord(receipt) && Array.isArray(receipt['logs']) ? (receipt['logs'] as unknown[]) : []
      return logs.some((log) => isTransfer(log, { ...move, usdc }))
    },
    /**
     * Returns whether the contract at an address says that a signature is its own. Returns false for an address without
     * a contract.
     */
    acceptsSignature: async (address: Address, hash: Hash, signature: Hex): Promise<boolean> => {
      const call = { abi: ERC1271_ABI, functionName: 'isValidSignature' } as const
      const data = encodeFunctionData({ ...call, args: [hash, signature] })
      try {
        const response = await ask('eth_call', [{ to: address, data }, 'latest'])
        return decodeFunctionResult({ ...call, data: String(response) as Hex }) === ERC1271_VALID
      } catch (error) {
        if (error instanceof NodeFault) throw error
        return false
      }
    },
  }
}

function isTransfer(
  log: unknown,
  { usdc, from, to, amountMicro }: { usdc: Address; from: Address; to: Address; amountMicro: bigint },
): boolean {
  if (!isRecord(log) || !Array.isArray(log['topics'])) return false
  const [, sender, recipient] = (log['topics'] as unknown[]).map((topic) => String(topic).toLowerCase())
  return (
    String(log['address']).toLowerCase() === usdc.toLowerCase() &&
    sender === toWord(from) &&
    recipient === toWord(to) &&
    /^0x[0-9a-fA-F]{64}$/.test(String(log['data'])) &&
    BigInt(String(log['data'])) === amountMicro
  )
}

function toWord(address: Address): string {
  return `${ADDRESS_WORD_PREFIX}${address.slice(2).toLowerCase()}`
}
