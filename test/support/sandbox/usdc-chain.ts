import { fetchOnce } from '../../../sandbox/src/lib/fetch-once.ts'

/** A chain's USDC contract. Tests read it directly from the chain, without the service. */
export interface UsdcChain {
  /** Returns the address's balance after the last block, in micro-USDC. */
  balanceOf(address: string): Promise<bigint>
  /** Lists the Transfer events from a wallet, in the order in which they are on the chain. */
  listTransfers(from: string): Promise<readonly ChainTransfer[]>
  call(method: string, params: readonly unknown[]): Promise<unknown>
}

export interface ChainTransfer {
  readonly txHash: string
  readonly blockNumber: number
  readonly transactionIndex: number
  /** The sender's address, in lower case. */
  readonly from: string
  /** The recipient's address, in lower case. */
  readonly to: string
  readonly amountMicro: bigint
}

interface Log {
  readonly transactionHash: string
  readonly blockNumber: string
  readonly transactionIndex: string
  readonly topics: readonly string[]
  readonly data: string
}

const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** The function selector of `balanceOf(address)` (ERC-20): the first four bytes of its keccak256 hash. */
const BALANCE_SELECTOR = '0x70a08231'

export function openUsdcChain({ rpc_url: rpcUrl, usdc }: { rpc_url: string; usdc: string }): UsdcChain {
  async function call(method: string, params: readonly unknown[]): Promise<unknown> {
    const response = await fetchOnce(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }

  return {
    call,
    async balanceOf(address) {
      const data = BALANCE_SELECTOR + toWord(address)
      return BigInt(String(await call('eth_call', [{ to: usdc, data }, 'latest'])))
    },
    async listTransfers(from) {
      const topics = [TRANSFER_TOPIC, `0x${toWord(from)}`]
      const logs = (await call('eth_getLogs', [{ fromBlock: '0x0', address: usdc, topics }])) as readonly Log[]
      return logs.map((log) => ({
        txHash: log.transactionHash,
        blockNumber: Number(log.blockNumber),
        transactionIndex: Number(log.transactionIndex),
        from: `0x${String(log.topics[1]).slice(-40)}`,
        to: `0x${String(log.topics[2]).slice(-40)}`,
        amountMicro: BigInt(log.data),
      }))
    },
  }
}

function toWord(address: string): string {
  return address.slice(2).toLowerCase().padStart(64, '0')
}
