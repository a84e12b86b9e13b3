import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, after, test } from 'node:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatAbiItem, formatAbiParams } from 'viem/utils'
import {
  type AbiItem,
  createPublicClient,
  createWalletClient,
  defineChain,
  domainSeparator,
  type Hex,
  http,
  parseAbi,
  parseSignature,
  toHex,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { CONTRACTS, compileContract, formatArtifact } from '../../scripts/compile-contract.ts'
import { findFreePort } from '../../../test/support/free-port.ts'
import { TEST_CHAIN_ID } from '../../test/support/chain-fixture.ts'
import { deployUsdc, usdcAddress, usdcNameOf } from './deploy-usdc.ts'
import { mintUsdc } from './mint-usdc.ts'
import { type Chain, startChain } from './start-chain.ts'
import { usdcAbi, usdcBytesAbi } from './usdc-abi.ts'

const TEST_TIMEOUT_MS = 60_000
const folder = mkdtempSync(join(tmpdir(), 'bursar-usdc-'))
const port = await findFreePort()
const network = defineChain({
  id: TEST_CHAIN_ID,
  name: 'local',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [`http://127.0.0.1:${port}`] } },
})
const transport = http(undefined, { timeout: TEST_TIMEOUT_MS })
const client = createPublicClient({ chain: network, transport, pollingInterval: 20, cacheTime: 0 })
const relayer = createWalletClient({
  chain: network,
  transport,
  account: privateKeyToAccount(generatePrivateKey()),
})
const domain = { name: 'USDC', version: '2', chainId: TEST_CHAIN_ID, verifyingContract: usdcAddress } as const
const firstNonce = toHex(1n, { size: 32 })
const secondNonce = toHex(2n, { size: 32 })
const noFee = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as const
const usdc = { address: usdcAddress, abi: usdcAbi, ...noFee } as const
const farFuture = 4_000_000_000n

const authorizationFields = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const

let chain: Chain
before(async () => {
  chain = await startChain({ chainId: TEST_CHAIN_ID, port, stateFile: join(folder, 'chain'), blockTimeSeconds: 0.05 })
  const [first, second] = await Promise.all([deployUsdc(chain.rpcUrl), deployUsdc(chain.rpcUrl)])
  assert.equal(first, second)
})
after(async () => {
  await chain.stop()
  rmSync(folder, { recursive: true, force: true })
})

const makeAccount = async (amountMicro: bigint): Promise<ReturnType<typeof privateKeyToAccount>> => {
  const account = privateKeyToAccount(generatePrivateKey())
  if (amountMicro > 0n) await confirm(await mintUsdc(chain.rpcUrl, { to: account.address, amountMicro }))
  return account
}

const confirm = async (hash: Hex): Promise<void> => {
  const receipt = await client.waitForTransactionReceipt({ hash, timeout: TEST_TIMEOUT_MS })
  assert.equal(receipt.status, 'success')
  assert.equal(receipt.effectiveGasPrice, 0n)
}

const balanceOf = (address: Hex): Promise<bigint> =>
  client.readContract({ ...usdc, functionName: 'balanceOf', args: [address] })

for (const { name, file } of CONTRACTS) {
  test(`the committed ${file} is exactly the compiler's output for the sources`, () => {
    const committed = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
    assert.equal(formatArtifact(compileContract(name)), committed)
  })
}

test('every entry of the used ABI exists in the contract', () => {
  const contract = new Set(compileContract('Usdc').abi.map((entry) => describeEntry(entry)))
  const foreign = [...usdcAbi, ...usdcBytesAbi]
    .map((entry) => describeEntry(entry))
    .filter((entry) => !contract.has(entry))
  assert.deepEqual(foreign, [])
})

// Describes an ABI entry in one line, with names, types and mutability. Leaves out the parts that the signatures in the
// test omit.
const describeEntry = (entry: AbiItem): string => {
  if (entry.type === 'function') {
    return `${formatAbiItem(entry, { includeName: true })} ${entry.stateMutability} ${formatAbiParams(entry.outputs)}`
  }
  if (entry.type !== 'event') return entry.type
  const fields = entry.inputs.map(({ indexed, name, type }) => `${type} ${indexed === true ? 'indexed ' : ''}${name}`)
  return `event ${entry.name}(${fields.join(', ')})`
}

test('the contract has the same name, decimals and domain as the real one', async () => {
  const names = ['name', 'symbol', 'decimals', 'version'] as const
  const values = await Promise.all(names.map((functionName) => client.readContract({ ...usdc, functionName })))
  assert.deepEqual(values, ['USDC', 'USDC', 6, '2'])
  const abi = parseAbi(['function DOMAIN_SEPARATOR() view returns (bytes32)'])
  assert.equal(
    await client.readContract({ address: usdcAddress, abi, functionName: 'DOMAIN_SEPARATOR' }),
    domainSeparator({ domain }),
  )
})

test('with the names of USDC on both chains, the domains of the real contracts come out', () => {
  const separate = (chainId: number, verifyingContract: Hex): Hex =>
    domainSeparator({ domain: { name: usdcNameOf(chainId), version: '2', chainId, verifyingContract } })
  assert.equal(
    separate(8453, '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'),
    '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f',
  )
  assert.equal(
    separate(84532, '0x036CbD53842c5426634e7929541eC2318f3dCF7e'),
    '0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818',
  )
})

test('a wallet without ETH sends USDC in an EIP-1559 transaction that pays nothing', async () => {
  const account = await makeAccount(100n)
  const to = (await makeAccount(0n)).address
  assert.equal(await client.getBalance({ address: account.address }), 0n)
  const wallet = createWalletClient({ account, chain: network, transport })
  await confirm(await wallet.writeContract({ ...usdc, functionName: 'transfer', args: [to, 40n] }))
  assert.deepEqual([await balanceOf(account.address), await balanceOf(to)], [60n, 40n])
})

test('twenty faucet calls at once all succeed', async () => {
  const { address } = await makeAccount(0n)
  const amounts = Array.from({ length: 20 }, (_, index) => BigInt(index + 1))
  const hashes = await Promise.all(amounts.map((amountMicro) => mintUsdc(chain.rpcUrl, { to: address, amountMicro })))
  await Promise.all(hashes.map((hash) => confirm(hash)))
  assert.equal(await balanceOf(address), 210n)
  await assert.rejects(mintUsdc(chain.rpcUrl, { to: address, amountMicro: 0n }), /above zero/)
})

test('only the owner can mint', async () => {
  const mint = { ...usdc, functionName: 'mint', args: [relayer.account.address, 1n] } as const
  await assert.rejects(relayer.writeContract(mint), /OwnableUnauthorizedAccount|0x118cdaa7/)
})

test('a transfer authorization works once, and a replay is rejected', async () => {
  const account = await makeAccount(100n)
  const message = {
    from: account.address,
    to: (await makeAccount(0n)).address,
    value: 30n,
    validAfter: 0n,
    validBefore: farFuture,
    nonce: toHex(7n, { size: 32 }),
  }
  const signature = await account.signTypedData({
    domain,
    types: { TransferWithAuthorization: authorizationFields },
    primaryType: 'TransferWithAuthorization',
    message,
  })
  const call = (value: bigint) =>
    relayer.writeContract({
      ...usdc,
      functionName: 'transferWithAuthorization',
      args: [
        message.from,
        message.to,
        value,
        message.validAfter,
        message.validBefore,
        message.nonce,
        ...vrs(signature),
      ],
    })
  await assert.rejects(call(31n), /invalid signature/)
  await confirm(await call(30n))
  assert.equal(await balanceOf(message.to), 30n)
  const isUsed = { ...usdc, functionName: 'authorizationState', args: [message.from, message.nonce] } as const
  assert.equal(await client.readContract(isUsed), true)
  await assert.rejects(call(30n), /authorization is used or canceled/)
})

test('an authorization is rejected outside its time, if canceled, and if somebody other than the payee submits it', async () => {
  const account = await makeAccount(100n)
  const to = relayer.account.address
  const submit = async (
    kind: 'TransferWithAuthorization' | 'ReceiveWithAuthorization',
    over: { validAfter?: bigint; validBefore?: bigint; nonce: Hex; to?: Hex },
  ): Promise<Hex> => {
    const message = { from: account.address, to, value: 1n, validAfter: 0n, validBefore: farFuture, ...over }
    const signature = await account.signTypedData({
      domain,
      types: { [kind]: authorizationFields },
      primaryType: kind,
      message,
    })
    const { from, value, validAfter, validBefore, nonce } = message
    const functionName = kind === 'TransferWithAuthorization' ? 'transferWithAuthorization' : 'receiveWithAuthorization'
    const args = [from, message.to, value, validAfter, validBefore, nonce, ...vrs(signature)] as const
    return relayer.writeContract({ ...usdc, functionName, args })
  }
  await assert.rejects(submit('TransferWithAuthorization', { nonce: firstNonce, validBefore: 1n }), /is expired/)
  await assert.rejects(
    submit('TransferWithAuthorization', { nonce: firstNonce, validAfter: farFuture }),
    /not yet valid/,
  )
  await assert.rejects(submit('ReceiveWithAuthorization', { nonce: firstNonce, to: account.address }), /be the payee/)
  await confirm(await submit('ReceiveWithAuthorization', { nonce: firstNonce }))
  const cancel = await account.signTypedData({
    domain,
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: account.address, nonce: secondNonce },
  })
  const args = [account.address, secondNonce, ...vrs(cancel)] as const
  await confirm(await relayer.writeContract({ ...usdc, functionName: 'cancelAuthorization', args }))
  await assert.rejects(submit('TransferWithAuthorization', { nonce: secondNonce }), /is used or canceled/)
})

test('an authorization whose signature is one string works like one whose signature has three parts', async () => {
  const account = await makeAccount(100n)
  const bytesUsdc = { address: usdcAddress, abi: usdcBytesAbi, ...noFee } as const
  const sign = async (kind: 'TransferWithAuthorization' | 'ReceiveWithAuthorization', nonce: Hex): Promise<Hex> => {
    const { address: from } = account
    const message = { from, to: relayer.account.address, value: 5n, validAfter: 0n, validBefore: farFuture, nonce }
    return await account.signTypedData({ domain, types: { [kind]: authorizationFields }, primaryType: kind, message })
  }
  const argsOf = (nonce: Hex, signature: Hex) =>
    [account.address, relayer.account.address, 5n, 0n, farFuture, nonce, signature] as const
  const [transfer, receive] = await Promise.all([
    sign('TransferWithAuthorization', firstNonce),
    sign('ReceiveWithAuthorization', secondNonce),
  ])
  const submit = (functionName: 'transferWithAuthorization' | 'receiveWithAuthorization', nonce: Hex, signature: Hex) =>
    relayer.writeContract({ ...bytesUsdc, functionName, args: argsOf(nonce, signature) })
  await assert.rejects(submit('transferWithAuthorization', firstNonce, receive), /invalid signature/)
  await assert.rejects(submit('transferWithAuthorization', firstNonce, `${transfer}00`), /invalid signature/)
  await confirm(await submit('transferWithAuthorization', firstNonce, transfer))
  await confirm(await submit('receiveWithAuthorization', secondNonce, receive))
  assert.equal(await balanceOf(account.address), 90n)
  const nonce = toHex(3n, { size: 32 })
  const types = {
    CancelAuthorization: [
      { name: 'authorizer', type: 'address' },
      { name: 'nonce', type: 'bytes32' },
    ],
  } as const
  const message = { authorizer: account.address, nonce }
  const cancel = await account.signTypedData({ domain, types, primaryType: 'CancelAuthorization', message })
  const args = [account.address, nonce, cancel] as const
  await confirm(await relayer.writeContract({ ...bytesUsdc, functionName: 'cancelAuthorization', args }))
  const late = await sign('TransferWithAuthorization', nonce)
  await assert.rejects(submit('transferWithAuthorization', nonce, late), /is used or canceled/)
})

test('a permit sets the allowance once, and a replay is rejected', async () => {
  const account = await makeAccount(100n)
  const spender = relayer.account.address
  const signature = await account.signTypedData({
    domain,
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'Permit',
    message: { owner: account.address, spender, value: 60n, nonce: 0n, deadline: farFuture },
  })
  const args = [account.address, spender, 60n, farFuture, ...vrs(signature)] as const
  await confirm(await relayer.writeContract({ ...usdc, functionName: 'permit', args }))
  await assert.rejects(relayer.writeContract({ ...usdc, functionName: 'permit', args }), /invalid signature/)
  const spend = [account.address, spender, 60n] as const
  await confirm(await relayer.writeContract({ ...usdc, functionName: 'transferFrom', args: spend }))
  assert.equal(await balanceOf(account.address), 40n)
})

const vrs = (signature: Hex): readonly [number, Hex, Hex] => {
  const { r, s, yParity } = parseSignature(signature)
  return [27 + yParity, r, s]
}
