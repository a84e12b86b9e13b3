import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { encodeFunctionData, parseAbi } from 'viem'
import type { Address, Hash, Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { CHAIN_ID } from './test-grant.ts'
import { waitFor } from './wait-for.ts'

/**
 * A token as small as can be, so that the enclave's tests depend on no other part of the sandbox: `balanceOf`, `transfer` and an open `mint`
 * (solc 0.8.37, optimized, without metadata).
 */
const TOKEN_CODE: Hex = `0x${[
  '6080604052348015600e575f5ffd5b506101d68061001c5f395ff3fe608060405234801561000f575f5ffd5b506004361061',
  '003f575f3560e01c806340c10f191461004357806370a0823114610058578063a9059cbb1461008a575b5f5ffd5b61005661',
  '0051366004610154565b6100ad565b005b61007761006636600461017c565b5f6020819052908152604090205481565b6040',
  '519081526020015b60405180910390f35b61009d610098366004610154565b6100dd565b6040519015158152602001610081',
  '565b6001600160a01b0382165f90815260208190526040812080548392906100d49084906101b0565b90915550505050565b',
  '335f908152602081905260408120805483919083906100fd9084906101c3565b90915550506001600160a01b0383165f9081',
  '5260208190526040812080548492906101299084906101b0565b9091555060019150505b92915050565b80356001600160a0',
  '1b038116811461014f575f5ffd5b919050565b5f5f60408385031215610165575f5ffd5b61016e83610139565b9460209390',
  '93013593505050565b5f6020828403121561018c575f5ffd5b61019582610139565b9392505050565b634e487b7160e01b5f',
  '52601160045260245ffd5b808201808211156101335761013361019c565b818103818111156101335761013361019c56',
].join('')}`
const ABI = parseAbi(['function mint(address to, uint256 amount)'])
/** The first account of every development chain: public, and worth nothing. */
const FAUCET = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
const FAUCET_GAS = 2_000_000n

export interface Receipt {
  readonly status: Hex
  readonly contractAddress: Address | null
}

export interface TestChain {
  readonly rpcUrl: string
  readonly usdc: Address
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>
  /** Mines nothing while false. */
  setMining(mining: boolean): Promise<void>
  mint(to: Address, amountMicro: bigint): Promise<void>
  /** Waits until the transaction is mined. */
  findReceipt(hash: Hash): Promise<Receipt>
  stop(): Promise<void>
}

/** Starts a chain of one-second blocks that takes transactions without a fee, and puts the token on it. */
export async function startTestChain(): Promise<TestChain> {
  const port = await findFreePort()
  const manifest = createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/package.json')
  const flags = ['--block-time', '1', '--base-fee', '0', '--gas-price', '0', '--disable-min-priority-fee', '--quiet']
  const args = ['--port', String(port), '--chain-id', String(CHAIN_ID), ...flags]
  const node = spawn(join(dirname(manifest), 'bin', 'anvil'), args, { stdio: 'ignore' })
  const rpcUrl = `http://127.0.0.1:${port}`
  const rpc = async (method: string, params: readonly unknown[] = []): Promise<unknown> =>
    await call(rpcUrl, method, params)
  await waitFor(
    async () =>
      await rpc('eth_chainId').then(
        () => true,
        () => false,
      ),
  )
  const findReceipt = async (hash: Hash): Promise<Receipt> => {
    const read = async () => (await rpc('eth_getTransactionReceipt', [hash])) as Receipt | null
    await waitFor(async () => (await read()) !== null)
    const receipt = await read()
    if (receipt === null) throw new Error(`The receipt of ${hash} is gone again.`)
    return receipt
  }
  let nonce = 0
  const send = async (tx: { to?: Address; data: Hex }): Promise<Receipt> => {
    const free = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
    const raw = await FAUCET.signTransaction({
      type: 'eip1559',
      chainId: CHAIN_ID,
      gas: FAUCET_GAS,
      nonce: nonce++,
      ...free,
      ...tx,
    })
    return await findReceipt((await rpc('eth_sendRawTransaction', [raw])) as Hash)
  }
  const { contractAddress: usdc } = await send({ data: TOKEN_CODE })
  if (usdc === null) throw new Error('The token was not deployed.')
  return {
    rpcUrl,
    usdc,
    rpc,
    findReceipt,
    setMining: async (mining) => void (await rpc('evm_setIntervalMining', [mining ? 1 : 0])),
    mint: async (to, amountMicro) => {
      const { status } = await send({ to: usdc, data: encodeFunctionData({ abi: ABI, args: [to, amountMicro] }) })
      if (status !== '0x1') throw new Error('The token was not minted.')
    },
    stop: async () => {
      const exited = once(node, 'exit')
      node.kill('SIGKILL')
      await exited
    },
  }
}

async function call(rpcUrl: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } }
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`)
  return answer.result
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('No free port.')
  return address.port
}
