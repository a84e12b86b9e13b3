import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  hashTypedData,
  http,
  parseAbi,
  parseEventLogs,
  toHex,
} from 'viem'
import type { Address, Hex } from 'viem'
import { entryPoint07Abi, getUserOperationHash, toPackedUserOperation } from 'viem/account-abstraction'
import type { UserOperation } from 'viem/account-abstraction'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { hashTypedData as hashNested, wrapTypedDataSignature } from 'viem/experimental/erc7739'
import { encodeExecuteData } from 'viem/experimental/erc7821'
import { baseSepolia } from 'viem/chains'
import { makeFolder, startTestChain, TEST_CHAIN_ID } from '../../test/support/chain-fixture.ts'
import { delegateAddress, delegationCode, entryPointAddress } from './account-contracts.ts'
import { callRpc } from './call-rpc.ts'
import { deployUsdc, usdcNameOf } from './deploy-usdc.ts'
import { mintUsdc } from './mint-usdc.ts'
import { usdcAbi, usdcBytesAbi } from './usdc-abi.ts'

const PAYEE = '0x00000000000000000000000000000000000000aa'
const erc1271Abi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
const NO_FEES = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }

type Operation = UserOperation<'0.7'>

async function openFixture(t: TestContext) {
  const chain = await startTestChain(t)
  const usdc = await deployUsdc(chain.rpcUrl)
  const wallet = privateKeyToAccount(generatePrivateKey())
  const bundler = privateKeyToAccount(generatePrivateKey())
  const client = createPublicClient({ chain: baseSepolia, transport: http(chain.rpcUrl), pollingInterval: 20 })
  const sender = createWalletClient({ account: bundler, chain: baseSepolia, transport: http(chain.rpcUrl) })
  await client.waitForTransactionReceipt({
    hash: await mintUsdc(chain.rpcUrl, { to: wallet.address, amountMicro: 10n }),
  })
  const delegate = async (): Promise<void> => {
    const authorization = await wallet.signAuthorization({ address: delegateAddress, chainId: TEST_CHAIN_ID, nonce: 0 })
    const hash = await sender.sendTransaction({
      to: bundler.address,
      authorizationList: [authorization],
      gas: 100_000n,
      ...NO_FEES,
    })
    await client.waitForTransactionReceipt({ hash })
  }
  const formatOperation = (amountMicro: bigint, overrides: Partial<Operation> = {}): Operation => ({
    sender: wallet.address,
    nonce: 0n,
    callData: encodeTransfer(usdc, amountMicro),
    callGasLimit: 150_000n,
    verificationGasLimit: 100_000n,
    preVerificationGas: 0n,
    signature: '0x',
    ...NO_FEES,
    ...overrides,
  })
  const hashOperation = (operation: Operation): Hex =>
    getUserOperationHash({
      chainId: TEST_CHAIN_ID,
      entryPointAddress,
      entryPointVersion: '0.7',
      userOperation: operation,
    })
  const signOperation = async (operation: Operation, signer = wallet): Promise<Operation> => ({
    ...operation,
    signature: await signer.sign({ hash: hashOperation(operation) }),
  })
  const handle = async (operations: readonly Operation[]) => {
    const hash = await sender.writeContract({
      address: entryPointAddress,
      abi: entryPoint07Abi,
      functionName: 'handleOps',
      args: [operations.map((operation) => toPackedUserOperation(operation)), bundler.address],
      gas: 2_000_000n,
      ...NO_FEES,
    })
    return await client.waitForTransactionReceipt({ hash })
  }
  const simulate = async (operations: readonly Operation[]) =>
    await client.simulateContract({
      account: bundler,
      address: entryPointAddress,
      abi: entryPoint07Abi,
      functionName: 'handleOps',
      args: [operations.map((operation) => toPackedUserOperation(operation)), bundler.address],
    })
  const balanceOf = async (address: Address): Promise<bigint> =>
    await client.readContract({ address: usdc, abi: usdcAbi, functionName: 'balanceOf', args: [address] })
  return {
    chain,
    usdc,
    wallet,
    client,
    delegate,
    formatOperation,
    hashOperation,
    signOperation,
    handle,
    simulate,
    balanceOf,
  }
}

function encodeTransfer(usdc: Address, amountMicro: bigint): Hex {
  const data = encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [PAYEE, amountMicro] })
  return encodeExecuteData({ calls: [{ to: usdc, data }] })
}

test('a new chain has the contracts, and still has them after a restart', async (t) => {
  const stateFile = join(makeFolder(), 'chain.state')
  const first = await startTestChain(t, { stateFile })
  const read = async (rpcUrl: string): Promise<unknown[]> =>
    await Promise.all(
      [entryPointAddress, delegateAddress].map((address) => callRpc(rpcUrl, 'eth_getCode', [address, 'latest'])),
    )
  const codes = await read(first.rpcUrl)
  assert.ok(codes.every((code) => typeof code === 'string' && code.length > 1_000))
  await first.stop()
  const second = await startTestChain(t, { stateFile })
  assert.deepEqual(await read(second.rpcUrl), codes)
})

test('operations that the wallet signed are executed, each with its own result and nonce key', async (t) => {
  const { wallet, client, delegate, ...fixture } = await openFixture(t)
  await delegate()
  assert.equal(await client.getCode({ address: wallet.address }), delegationCode)
  const operations = await Promise.all(
    [4n, 50n, 6n].map((amount, index) =>
      fixture.signOperation(fixture.formatOperation(amount, { nonce: BigInt(index + 1) << 64n })),
    ),
  )
  const receipt = await fixture.handle(operations)
  assert.equal(receipt.status, 'success')
  const events = parseEventLogs({ abi: entryPoint07Abi, logs: receipt.logs })
  const outcomes = events.flatMap((event) => (event.eventName === 'UserOperationEvent' ? event.args : []))
  assert.deepEqual(
    outcomes.map(({ userOpHash, success, nonce }) => ({ userOpHash, success, nonce })),
    operations.map((operation, index) => ({
      userOpHash: fixture.hashOperation(operation),
      success: index !== 1,
      nonce: operation.nonce,
    })),
  )
  assert.equal(events[0]?.eventName, 'BeforeExecution')
  assert.equal(await fixture.balanceOf(PAYEE), 10n)
})

test('an operation that is reused, signed by another key, or of a wallet without code reverts its bundle', async (t) => {
  const fixture = await openFixture(t)
  const operation = await fixture.signOperation(fixture.formatOperation(1n))
  await assert.rejects(fixture.simulate([operation]), /AA20/)
  await fixture.delegate()
  await fixture.handle([operation])
  await assert.rejects(fixture.simulate([operation]), /AA25/)
  const stranger = privateKeyToAccount(generatePrivateKey())
  const forged = await fixture.signOperation(fixture.formatOperation(1n, { nonce: 1n }), stranger)
  await assert.rejects(fixture.simulate([forged]), /AA24/)
  const changed = { ...(await fixture.signOperation(fixture.formatOperation(1n, { nonce: 1n }))), callGasLimit: 1n }
  await assert.rejects(fixture.simulate([changed]), /AA24/)
})

test('a delegated wallet accepts its wrapped signature of typed data, and rejects a bare one', async (t) => {
  const { wallet, client, delegate } = await openFixture(t)
  await delegate()
  const typedData = {
    domain: { name: 'USD Coin', version: '2', chainId: TEST_CHAIN_ID, verifyingContract: PAYEE },
    types: { Note: [{ name: 'value', type: 'uint256' }] },
    primaryType: 'Note',
    message: { value: 7n },
  } as const
  const verifierDomain = {
    name: 'Bursar Sandbox Account',
    version: '1',
    chainId: TEST_CHAIN_ID,
    verifyingContract: wallet.address,
    salt: toHex(0, { size: 32 }),
  }
  const check = async (signature: Hex): Promise<Hex> =>
    await client.readContract({
      address: wallet.address,
      abi: erc1271Abi,
      functionName: 'isValidSignature',
      args: [hashTypedData(typedData), signature],
    })
  const nested = await wallet.sign({ hash: hashNested({ ...typedData, verifierDomain }) })
  assert.equal(await check(wrapTypedDataSignature({ ...typedData, signature: nested })), '0x1626ba7e')
  assert.equal(await check(await wallet.signTypedData(typedData)), '0xffffffff')
})

test('USDC of a delegated wallet moves by its wrapped signature, and not by a bare one', async (t) => {
  const { wallet, client, usdc, chain, delegate, balanceOf } = await openFixture(t)
  const domain = { name: usdcNameOf(TEST_CHAIN_ID), version: '2', chainId: TEST_CHAIN_ID, verifyingContract: usdc }
  const types = {
    TransferWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  } as const
  const formatData = (nonce: bigint) => ({
    domain,
    types,
    primaryType: 'TransferWithAuthorization' as const,
    message: {
      from: wallet.address,
      to: PAYEE,
      value: 3n,
      validAfter: 0n,
      validBefore: 4_000_000_000n,
      nonce: toHex(nonce, { size: 32 }),
    } as const,
  })
  const anybody = createWalletClient({
    account: privateKeyToAccount(generatePrivateKey()),
    chain: baseSepolia,
    transport: http(chain.rpcUrl),
  })
  const submit = async ({ message }: ReturnType<typeof formatData>, signature: Hex): Promise<void> => {
    const { from, to, value, validAfter, validBefore, nonce } = message
    const args = [from, to, value, validAfter, validBefore, nonce, signature] as const
    const call = { address: usdc, abi: usdcBytesAbi, functionName: 'transferWithAuthorization', args } as const
    await client.waitForTransactionReceipt({ hash: await anybody.writeContract({ ...call, ...NO_FEES }) })
  }
  const wrap = async (data: ReturnType<typeof formatData>): Promise<Hex> => {
    const verifierDomain = {
      name: 'Bursar Sandbox Account',
      version: '1',
      chainId: TEST_CHAIN_ID,
      verifyingContract: wallet.address,
      salt: toHex(0, { size: 32 }),
    }
    const signature = await wallet.sign({ hash: hashNested({ ...data, verifierDomain }) })
    return wrapTypedDataSignature({ ...data, signature })
  }
  const [first, second] = [formatData(1n), formatData(2n)]
  await assert.rejects(submit(first, await wrap(first)), /invalid signature/)
  await submit(first, await wallet.signTypedData(first))
  await delegate()
  await assert.rejects(submit(second, await wallet.signTypedData(second)), /invalid signature/)
  await submit(second, await wrap(second))
  assert.equal(await balanceOf(PAYEE), 6n)
})
