import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createWalletClient, encodeFunctionData, erc20Abi, http, type Hash } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { pino } from 'pino'
import { deployUsdc } from '../../../sandbox/src/chain/deploy-usdc.ts'
import { mintUsdc } from '../../../sandbox/src/chain/mint-usdc.ts'
import { startChain } from '../../../sandbox/src/chain/start-chain.ts'
import { parseAddress, type Address } from '../values/address.ts'
import { microUsdc } from '../values/money.ts'
import { ChainUnavailable } from './errors.ts'
import { openChain, type Chain } from './open-chain.ts'
import type { Receipt } from './parse-receipt.ts'
import { decideSettlement } from './decide-settlement.ts'
import { findFreePort } from '../../../test/support/free-port.ts'
import { waitFor } from '../../../test/support/wait-for.ts'

const CHAIN_ID = 84532

let node: Awaited<ReturnType<typeof startChain>>
let chain: Chain
let usdc: Address
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-chain-'))
  node = await startChain({
    chainId: CHAIN_ID,
    port: await findFreePort(),
    stateFile: join(folder, 'state'),
    blockTimeSeconds: 1,
  })
  usdc = address(await deployUsdc(node.rpcUrl))
  chain = open(CHAIN_ID)
})
after(async () => {
  chain.close()
  await node.stop()
  await rm(folder, { recursive: true, force: true })
})

function open(chainId: number): Chain {
  const logger = pino({ level: 'silent' })
  return openChain({ mode: 'test', chainId, rpcUrls: [node.rpcUrl], usdc, confirmations: 1 }, { logger })
}

function address(text: string): Address {
  const parsed = parseAddress(text)
  assert.ok(parsed)
  return parsed
}

async function awaitReceipt(hash: Hash): Promise<Receipt> {
  return await waitFor(`the receipt of ${hash}`, async () => (await chain.readReceipts([hash])).get(hash))
}

describe('a local chain', () => {
  it('has the configured chain id, and is refused under another one', async () => {
    await chain.checkChainId()
    const other = open(8453)
    await assert.rejects(other.checkChainId(), (error) => {
      return error instanceof ChainUnavailable && /is on chain 84532, not 8453/.test(error.message)
    })
    other.close()
  })

  it('returns the balance after a mint, and the transfer of its receipt', async () => {
    const payee = address(privateKeyToAccount(generatePrivateKey()).address)
    assert.equal((await chain.readUsdcBalance(payee)).balanceMicro, 0n)
    const hash = await mintUsdc(node.rpcUrl, { to: payee, amountMicro: 2_500_000n })
    const receipt = await awaitReceipt(hash)
    assert.equal(receipt.status, 'success')
    assert.equal(receipt.transfers.length, 1)
    assert.deepEqual(
      {
        contract: receipt.transfers[0]?.contract,
        to: receipt.transfers[0]?.to,
        amountMicro: receipt.transfers[0]?.amountMicro,
      },
      { contract: usdc, to: payee, amountMicro: 2_500_000n },
    )
    const { balanceMicro, blockNumber } = await chain.readUsdcBalance(payee)
    assert.equal(balanceMicro, 2_500_000n)
    assert.ok(blockNumber >= receipt.blockNumber)
    assert.ok((await chain.readHead()) >= blockNumber)
  })

  it('settles a transfer, and fails one that reverted', async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    const payer = address(account.address)
    const payee = address(privateKeyToAccount(generatePrivateKey()).address)
    await awaitReceipt(await mintUsdc(node.rpcUrl, { to: payer, amountMicro: 3_000_000n }))
    const wallet = createWalletClient({ account, transport: http(node.rpcUrl) })
    const send = async (nonce: number, amountMicro: bigint): Promise<Receipt> => {
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [payee, amountMicro] })
      const fees = { gas: 100_000n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
      const transaction = { chain: null, chainId: CHAIN_ID, type: 'eip1559', to: usdc, data, nonce, ...fees } as const
      const serialized = await account.signTransaction(transaction)
      return await awaitReceipt(await wallet.sendRawTransaction({ serializedTransaction: serialized }))
    }
    const transfer = { contract: usdc, from: payer, to: payee, amountMicro: microUsdc(1_000_000n) }
    const expected = { ...transfer, operationHash: null }
    const settle = (receipt: Receipt, head: bigint) => decideSettlement({ receipt, head, confirmations: 1, expected })

    const paid = await send(0, 1_000_000n)
    assert.equal(settle(paid, await chain.readHead()).kind, 'confirmed')
    assert.equal(settle(paid, paid.blockNumber - 1n).kind, 'mined')

    const reverted = await send(1, 9_000_000n)
    const settlement = settle(reverted, await chain.readHead())
    assert.ok(settlement.kind === 'failed')
    assert.equal(settlement.reason, 'reverted')
  })

  it('waits again when a reorganization takes the receipt away, and settles in the later block', async () => {
    const payee = address(privateKeyToAccount(generatePrivateKey()).address)
    const hash = await mintUsdc(node.rpcUrl, { to: payee, amountMicro: 1n })
    const before = await awaitReceipt(hash)
    node.setMining(false)
    await node.reorg(Number((await chain.readHead()) - before.blockNumber) + 1)
    assert.equal((await chain.readReceipts([hash])).size, 0)
    assert.equal((await chain.readUsdcBalance(payee)).balanceMicro, 0n)
    node.setMining(true)
    assert.notEqual((await awaitReceipt(hash)).blockHash, before.blockHash)
    assert.equal((await chain.readUsdcBalance(payee)).balanceMicro, 1n)
  })

  it('has no receipt of a transaction that nobody sent', async () => {
    assert.equal((await chain.readReceipts([`0x${'1'.repeat(64)}`])).size, 0)
  })
})
