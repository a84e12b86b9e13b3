import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { encodeFunctionData, hashTypedData, parseAbi, recoverTypedDataAddress } from 'viem/utils'
import type { Address, Hex } from 'viem'
import { startTestChain } from '../../test/support/test-chain.ts'
import type { TestChain } from '../../test/support/test-chain.ts'
import { CAIP2, makeDataDir, removeDataDir, startTestEnclave } from '../../test/support/test-enclave.ts'
import type { TestEnclave } from '../../test/support/test-enclave.ts'
import { CHAIN_ID, openGrant, signedUpdate, transfer } from '../../test/support/test-grant.ts'
import type { TestGrant } from '../../test/support/test-grant.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import type { ConditionRecord } from './records.ts'
import type { TypedData } from './typed-data.ts'

const PAYEE: Address = '0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B'
const VIOLATION = {
  status: 400,
  error: { error: 'RPC request denied due to policy violation', code: 'policy_violation' },
}
/** The fields of EIP-3009 in the order in which USDC declares them. */
const AUTHORIZATION = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const
const SHAPE = {
  primary_type: 'TransferWithAuthorization',
  types: { TransferWithAuthorization: AUTHORIZATION },
} as const
const erc1271Abi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])

let chain: TestChain
let enclave: TestEnclave
let grant: TestGrant

before(async () => {
  chain = await startTestChain()
  enclave = await startTestEnclave({ dataDir: await makeDataDir(), rpcUrl: chain.rpcUrl })
  grant = await openGrant(enclave, chain.usdc)
  const { wallet, policy, signer } = grant
  await assert.rejects(sign(), VIOLATION, 'a policy for sends alone allows no signature')
  const message = { field_source: 'ethereum_typed_data_message', typed_data: SHAPE } as const
  const domain = { field_source: 'ethereum_typed_data_domain', operator: 'eq' } as const
  const conditions: ConditionRecord[] = [
    { ...domain, field: 'chainId', value: String(CHAIN_ID) },
    { ...domain, field: 'verifyingContract', value: chain.usdc.toLowerCase() },
    { ...message, field: 'value', operator: 'lte', value: '5000000' },
    { ...message, field: 'to', operator: 'in', value: [PAYEE.toLowerCase()] },
    { ...message, field: 'validBefore', operator: 'lte', value: '4102444800' },
    { field_source: 'system', field: 'current_unix_timestamp', operator: 'lt', value: '4102444800' },
  ]
  const signing = { name: 'x402', method: 'eth_signTypedData_v4', action: 'ALLOW', conditions } as const
  const sending = policy.rules.map(({ name, method, action, conditions: held }) => ({
    name,
    method,
    action,
    conditions: held,
  }))
  const wider = await enclave.client.policies().create({
    version: '1.0',
    name: 'both',
    chain_type: 'ethereum',
    rules: [...sending, signing],
    owner_id: policy.owner_id,
  })
  assert.deepEqual(wider.rules.at(-1)?.conditions, conditions)
  const body = { additional_signers: [{ ...signer, override_policy_ids: [wider.id] }] }
  grant = { ...grant, wallet: await signedUpdate(enclave, { ...grant, wallet, body }) }
  await chain.mint(wallet.address, 10_000_000n)
})

after(async () => {
  await enclave.stop()
  await chain.stop()
  await removeDataDir(enclave.dataDir)
})

interface Change {
  readonly domain?: object
  readonly message?: object
  readonly types?: TypedData['types']
}

function formatData({ domain, message, types }: Change = {}): TypedData {
  return {
    domain: { name: 'USD Coin', version: '2', chainId: CHAIN_ID, verifyingContract: chain.usdc, ...domain },
    types: types ?? SHAPE.types,
    primary_type: SHAPE.primary_type,
    message: {
      from: grant.wallet.address,
      to: PAYEE,
      value: '5000000',
      validAfter: '0',
      validBefore: '2000000000',
      nonce: `0x${'07'.repeat(32)}`,
      ...message,
    },
  }
}

async function sign(change: Change = {}, options: object = {}): Promise<Hex> {
  const { signature, encoding } = await enclave.client
    .wallets()
    .ethereum()
    .signTypedData(grant.wallet.id, {
      params: { typed_data: formatData(change) },
      authorization_context: { authorization_private_keys: [grant.agent.privateKey] },
      ...options,
    })
  assert.equal(encoding, 'hex')
  return signature
}

function toViem({ domain, types, primary_type: primaryType, message }: TypedData) {
  return { domain, types, primaryType, message }
}

test("typed data within the policy is signed by the wallet's key, and a replay gets the same signature", async () => {
  const options = { signature_options: { type: 'ecdsa' }, idempotency_key: randomUUID() }
  const signature = await sign({}, options)
  assert.equal(await recoverTypedDataAddress({ ...toViem(formatData()), signature }), grant.wallet.address)
  assert.equal(await sign({}, options), signature)
  assert.equal(await sign(), signature)
})

const [from, to, ...rest] = AUTHORIZATION
const REFUSED: readonly [string, Change][] = [
  ['above the cap', { message: { value: '5000001' } }],
  ['to another payee', { message: { to: '0x00000000000000000000000000000000000000aa' } }],
  ['that is valid for too long', { message: { validBefore: '4102444801' } }],
  ['of another token', { domain: { verifyingContract: PAYEE } }],
  ['on another chain', { domain: { chainId: 1 } }],
  ['of types in another order', { types: { TransferWithAuthorization: [to, from, ...rest] } }],
  ['with its domain among the types', { types: { ...SHAPE.types, EIP712Domain: [{ name: 'name', type: 'string' }] } }],
]

for (const [name, change] of REFUSED) {
  test(`an authorization ${name} is rejected by policy`, async () => {
    await assert.rejects(sign(change), VIOLATION)
  })
}

test('once it has code, the wallet accepts its wrapped signature, and no plain one any more', async () => {
  const { transaction_id } = await transfer(enclave, grant, chain.usdc)
  await waitFor(
    'the transaction to be confirmed',
    async () => (await enclave.client.transactions().get(transaction_id)).status === 'confirmed',
  )
  const hash = hashTypedData(toViem(formatData()))
  const check = async (signature: Hex): Promise<unknown> => {
    const data = encodeFunctionData({ abi: erc1271Abi, args: [hash, signature] })
    return await chain.rpc('eth_call', [{ to: grant.wallet.address, data }, 'latest'])
  }
  const wrapped = await sign({}, { signature_options: { type: 'erc1271' }, caip2: CAIP2 })
  assert.ok(wrapped.length > 2 + 2 * 65)
  assert.match(String(await check(wrapped)), /^0x1626ba7e/)
  assert.match(String(await check(await sign())), /^0xffffffff/)
})

test("a wrapped signature requires the account's chain, and data must match its types", async () => {
  const invalid = (error: { status: number; error: { code: string } }): boolean =>
    error.status === 400 && error.error.code === 'invalid_data'
  await assert.rejects(sign({}, { signature_options: { type: 'erc1271' } }), invalid)
  await assert.rejects(sign({}, { signature_options: { type: 'erc1271' }, caip2: 'eip155:1' }), invalid)
  await assert.rejects(sign({ message: { nonce: '0x07' } }), invalid)
})

test('a condition on typed data is checked when it is written', async () => {
  const create = async (condition: object) =>
    await enclave.client.policies().create({
      version: '1.0',
      name: 'wrong',
      chain_type: 'ethereum',
      rules: [
        {
          name: 'rule',
          method: 'eth_signTypedData_v4',
          action: 'ALLOW',
          conditions: [{ operator: 'eq', value: '1', ...condition } as ConditionRecord],
        },
      ],
    })
  const wrong: readonly object[] = [
    { field_source: 'ethereum_typed_data_message', field: 'value' },
    { field_source: 'ethereum_typed_data_message', field: 'nothing', typed_data: SHAPE },
    { field_source: 'ethereum_typed_data_message', field: 'value', value: 'many', typed_data: SHAPE },
    { field_source: 'ethereum_typed_data_domain', field: 'name' },
    { field_source: 'ethereum_typed_data_domain', field: 'chainId', value: '0x1' },
    { field_source: 'ethereum_typed_data_domain', field: 'chainId', typed_data: SHAPE },
  ]
  for (const condition of wrong) {
    await assert.rejects(create(condition), (error: { status: number; error: { code: string } }) => {
      return error.status === 400 && error.error.code === 'invalid_policy_format'
    })
  }
})
