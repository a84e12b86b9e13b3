import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createWalletClient, http, parseSignature, publicActions, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startTestChain, type TestChain } from '../../../../../sandbox/test/support/test-chain.ts'
import { usdcAbi } from '../../../../../sandbox/src/chain/usdc-abi.ts'
import { seedPayment } from '../../../../../test/support/context/payment-rows.ts'
import { address, seed } from '../../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../../test/support/context/test-context.ts'
import { waitFor } from '../../../../../test/support/wait-for.ts'
import { AUTHORIZATION_TYPES } from '../../../values/transfer-authorization.ts'
import { getPayment } from '../get-payment.ts'
import type { Payment } from '../payment.ts'
import { settleAuthorizations } from './settle-authorizations.ts'

const CHAIN_ID = 84532
const CONFIRMATIONS = 4
const noFee = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as const
const CANCEL_TYPES = {
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** These tests mine every block themselves. */
describe('the end of purchases on a real chain', () => {
  const workspace = privateKeyToAccount(generatePrivateKey())
  let chain: TestChain
  let given: TestContext
  let purchaseOf: () => Promise<Payment>
  before(async () => {
    chain = await startTestChain()
    await chain.mint(workspace.address, 10_000_000n)
    chain.setMining(false)
    // The miner may still be mining a block. A reorganization waits for it.
    await chain.reorg(1)
    await mine(1)
    given = await openTestContext((config) => {
      const usdc = address(chain.usdc)
      const test = { ...config.chains.test, usdc, rpcUrls: [chain.rpcUrl], confirmations: CONFIRMATIONS }
      return { ...config, chains: { ...config.chains, test } }
    })
    const seeded = await seed(given.context)
    purchaseOf = async () => {
      const firstBlock = await given.context.chains.test.readHead()
      const wallet = { walletAddress: address(workspace.address), to: address(`0x${'7'.repeat(40)}`) }
      return await seedPayment(given.context, seeded, { kind: 'x402', firstBlock, ...wallet })
    }
  })
  after(async () => {
    await given.close()
    await chain.stop()
  })

  test('a use is mined, then confirmed by the Transfer log that its authorization made', async () => {
    const purchase = await purchaseOf()
    const txHash = await use(purchase)
    assert.equal((await settle(purchase)).minedBlock, null)
    await mine(1)
    const { blockNumber, logs } = await chain.findReceipt(txHash)
    assert.deepEqual([(await settle(purchase)).minedBlock, logs.length], [BigInt(blockNumber), 2])
    await mine(CONFIRMATIONS - 2)
    assert.equal((await settle(purchase)).status, 'pending')
    await mine(1)
    const confirmed = await settle(purchase)
    assert.deepEqual([confirmed.status, confirmed.txHash, confirmed.logIndex], ['confirmed', txHash, 1n])
  })

  test('after a reorganization the purchase waits, and is confirmed by the use in another block', async () => {
    const purchase = await purchaseOf()
    const txHash = await use(purchase)
    await mine(1)
    const first = (await settle(purchase)).minedBlock
    assert.notEqual(first, null)
    await chain.reorg(1)
    assert.equal((await settle(purchase)).minedBlock, null)
    await mine(CONFIRMATIONS)
    const confirmed = await settle(purchase)
    assert.deepEqual([confirmed.status, confirmed.txHash], ['confirmed', txHash])
    assert.notEqual(confirmed.minedBlock, first)
  })

  test('a cancellation fails the purchase', async () => {
    const purchase = await purchaseOf()
    const { nonce } = authorizationOf(purchase)
    const message = { authorizer: workspace.address, nonce }
    const signature = await workspace.signTypedData({
      ...{ domain: await domain(), types: CANCEL_TYPES, primaryType: 'CancelAuthorization' },
      message,
    })
    await write('cancelAuthorization', [workspace.address, nonce, ...split(signature)])
    await mine(CONFIRMATIONS)
    const { status, failureCode } = await settle(purchase)
    assert.deepEqual([status, failureCode], ['failed', 'authorization_canceled'])
  })

  test('an unused authorization expires when the block at the depth has reached its end; then the contract rejects it', async () => {
    const purchase = await purchaseOf()
    const end = authorizationOf(purchase).validBefore.getTime() / 1_000
    await chain.rpc('evm_setNextBlockTimestamp', [end])
    await mine(CONFIRMATIONS - 1)
    assert.equal((await settle(purchase)).status, 'pending')
    await mine(1)
    const { status, failureCode } = await settle(purchase)
    assert.deepEqual([status, failureCode], ['failed', 'authorization_expired'])
    await assert.rejects(use(purchase), /authorization is expired/)
  })

  /** Reads the purchase, then settles it. */
  async function settle(purchase: Payment): Promise<Payment> {
    const known = await getPayment(given.context, purchase)
    await settleAuthorizations(given.context, { mode: 'test', payments: [known] })
    return await getPayment(given.context, purchase)
  }

  /** Sends the transaction that uses the authorization, as a seller does. Returns its hash. */
  async function use(purchase: Payment): Promise<Hex> {
    const { nonce, validBefore } = authorizationOf(purchase)
    const message = {
      from: workspace.address,
      to: purchase.to,
      value: purchase.amountMicro,
      validAfter: 0n,
      validBefore: BigInt(validBefore.getTime() / 1_000),
      nonce,
    } as const
    const signature = await workspace.signTypedData({
      ...{ domain: await domain(), types: AUTHORIZATION_TYPES, primaryType: 'TransferWithAuthorization' },
      message,
    })
    const { from, to, value, validAfter } = message
    const args = [from, to, value, validAfter, message.validBefore, nonce, ...split(signature)] as const
    return await write('transferWithAuthorization', args)
  }

  async function write(functionName: string, args: readonly unknown[]): Promise<Hex> {
    const relayer = createWalletClient({
      account: privateKeyToAccount(generatePrivateKey()),
      transport: http(chain.rpcUrl),
    })
    const call = { address: chain.usdc, abi: usdcAbi as readonly unknown[], functionName, args, chain: null, ...noFee }
    const hash = await relayer.writeContract(call)
    await waitFor('the transaction is in the pool', async () => await chain.rpc('eth_getTransactionByHash', [hash]))
    return hash
  }

  async function domain() {
    const client = createWalletClient({ transport: http(chain.rpcUrl) }).extend(publicActions)
    const name = await client.readContract({ address: chain.usdc, abi: usdcAbi, functionName: 'name' })
    return { name, version: '2', chainId: CHAIN_ID, verifyingContract: chain.usdc } as const
  }

  async function mine(blocks: number): Promise<void> {
    for (let mined = 0; mined < blocks; mined += 1) await chain.rpc('evm_mine')
  }
})

function authorizationOf({ authorization }: Payment): NonNullable<Payment['authorization']> {
  assert.ok(authorization)
  return authorization
}

function split(signature: Hex): [number, Hex, Hex] {
  const { v, r, s } = parseSignature(signature)
  return [Number(v), r, s]
}
