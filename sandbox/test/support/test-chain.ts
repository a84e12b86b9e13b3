import { join } from 'node:path'
import type { Address, Hash, Hex } from 'viem'
import { callRpc } from '../../src/chain/call-rpc.ts'
import { deployUsdc, usdcAddress } from '../../src/chain/deploy-usdc.ts'
import { mintUsdc } from '../../src/chain/mint-usdc.ts'
import { startChain } from '../../src/chain/start-chain.ts'
import { makeDataDir, removeDataDir } from './test-enclave.ts'
import { CHAIN_ID } from './test-grant.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { findFreePort } from '../../../test/support/free-port.ts'

const BLOCK_TIME_SECONDS = 0.25
/** The function selector of `balanceOf(address)` (ERC-20): the first four bytes of its keccak256 hash. */
const BALANCE_SELECTOR = '0x70a08231'

export interface Receipt {
  readonly status: Hex
  readonly blockNumber: Hex
  readonly logs: readonly { readonly address: Address; readonly topics: readonly Hex[]; readonly data: Hex }[]
}

export interface TestChain {
  readonly rpcUrl: string
  readonly usdc: Address
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>
  /** Turns mining on or off. */
  setMining(mining: boolean): void
  /** Replaces the last blocks with empty ones. */
  reorg(blocks: number): Promise<void>
  /** Mints USDC, and waits until it has arrived. */
  mint(to: Address, amountMicro: bigint): Promise<void>
  balanceOf(address: Address): Promise<bigint>
  /** Sets the address's balance of the chain's native coin. */
  setCoin(address: Address, amountWei: bigint): Promise<void>
  /** Waits until the transaction is mined, and returns its receipt. */
  findReceipt(hash: Hash): Promise<Receipt>
  stop(): Promise<void>
}

/** Starts one of the sandbox's chains on a free port, with its USDC contract and its own data directory. */
export async function startTestChain({
  blockTimeSeconds = BLOCK_TIME_SECONDS,
}: { readonly blockTimeSeconds?: number } = {}): Promise<TestChain> {
  const dataDir = await makeDataDir()
  const chain = await startChain({
    chainId: CHAIN_ID,
    port: await findFreePort(),
    stateFile: join(dataDir, 'chain.json'),
    blockTimeSeconds,
  })
  const { rpcUrl } = chain
  const rpc = async (method: string, params: readonly unknown[] = []): Promise<unknown> =>
    await callRpc(rpcUrl, method, params)
  const findReceipt = async (hash: Hash): Promise<Receipt> => {
    const look = async () => (await rpc('eth_getTransactionReceipt', [hash])) as Receipt | null
    return await waitFor(`the receipt of ${hash}`, look)
  }
  return {
    rpcUrl,
    usdc: await deployUsdc(rpcUrl),
    rpc,
    setMining: (mining) => chain.setMining(mining),
    reorg: async (blocks) => await chain.reorg(blocks),
    mint: async (to, amountMicro) => {
      if (amountMicro > 0n) await findReceipt(await mintUsdc(rpcUrl, { to, amountMicro }))
    },
    balanceOf: async (address) => {
      const data = `${BALANCE_SELECTOR}${address.slice(2).toLowerCase().padStart(64, '0')}`
      return BigInt(String(await rpc('eth_call', [{ to: usdcAddress, data }, 'latest'])))
    },
    setCoin: async (address, amountWei) =>
      void (await rpc('anvil_setBalance', [address, `0x${amountWei.toString(16)}`])),
    findReceipt,
    stop: async () => {
      await chain.stop()
      await removeDataDir(dataDir)
    },
  }
}
