import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { Hash } from 'viem'
import { delegationCode } from '../chain/account-contracts.ts'
import { startTestChain } from '../../test/support/test-chain.ts'
import type { TestChain } from '../../test/support/test-chain.ts'
import { loadSdk } from '../../test/support/test-client.ts'
import { CAIP2, makeDataDir, removeDataDir, startTestEnclave } from '../../test/support/test-enclave.ts'
import type { TestEnclave } from '../../test/support/test-enclave.ts'
import {
  assertRequest,
  formatPolicy,
  formatTransfer,
  openGrant,
  signedUpdate,
  transfer,
} from '../../test/support/test-grant.ts'
import type { TestGrant, TransferInput } from '../../test/support/test-grant.ts'
import { waitFor } from '../../../test/support/wait-for.ts'

const VIOLATION = {
  status: 400,
  error: { error: 'RPC request denied due to policy violation', code: 'policy_violation' },
}
const UNIQUE = { status: 400, error: { error: 'reference_id must be unique', code: 'invalid_data' } }

let chain: TestChain
let enclave: TestEnclave

before(async () => {
  chain = await startTestChain()
  enclave = await startTestEnclave({ dataDir: await makeDataDir(), rpcUrl: chain.rpcUrl })
})

after(async () => {
  assert.equal(await enclave.stop(), 0)
  await chain.stop()
  await removeDataDir(enclave.dataDir)
})

async function openFundedGrant(amountMicro: bigint): Promise<TestGrant> {
  const grant = await openGrant(enclave, chain.usdc)
  await chain.mint(grant.wallet.address, amountMicro)
  return grant
}

const pay = async (grant: TestGrant, input: TransferInput = {}) => await transfer(enclave, grant, chain.usdc, input)
const findStatus = async (id: string) => (await enclave.client.transactions().get(id)).status

const findTx = async (id: string) => await enclave.client.transactions().get(id)
const waitForHash = async (id: string): Promise<Hash> => {
  await waitFor("the transaction's hash", async () => (await findTx(id)).transaction_hash !== null)
  return (await findTx(id)).transaction_hash ?? '0x'
}

test('the response to a sponsored payment has no hash, and it is mined as a user operation of the wallet', async () => {
  const grant = await openFundedGrant(10_000_000n)
  const referenceId = randomUUID()
  const answer = await pay(grant, { referenceId })
  assert.equal(answer.hash, '')
  assert.equal(answer.reference_id, referenceId)
  const hash = await waitForHash(answer.transaction_id)
  const receipt = await chain.findReceipt(hash)
  assert.equal(receipt.status, '0x1')
  const [, operationHash, sender] = receipt.logs.at(-1)?.topics ?? []
  assert.equal(operationHash, answer.user_operation_hash)
  assert.equal(sender, `0x${grant.wallet.address.slice(2).toLowerCase().padStart(64, '0')}`)
  assert.equal(await chain.rpc('eth_getCode', [grant.wallet.address, 'latest']), delegationCode)
  await waitFor(
    'the transaction to be confirmed',
    async () => (await findStatus(answer.transaction_id)) === 'confirmed',
  )
  const tx = await findTx(answer.transaction_id)
  assert.deepEqual(tx, {
    id: answer.transaction_id,
    wallet_id: grant.wallet.id,
    caip2: CAIP2,
    status: 'confirmed',
    transaction_hash: hash,
    created_at: tx.created_at,
    reference_id: referenceId,
    sponsored: true,
    user_operation_hash: answer.user_operation_hash,
  })
  const found = await enclave.request('GET', `/v1/transactions?reference_id=${referenceId}`)
  assert.deepEqual(found.body['transactions'], [tx])
  const missing = await enclave.request('GET', `/v1/transactions?reference_id=${randomUUID()}`)
  assert.deepEqual(missing.body, { transactions: [] })
})

test('as at the provider, a sponsored payment is pending without a hash for a moment, and final after some blocks', async () => {
  const dataDir = await makeDataDir()
  const realistic = await startTestEnclave({ dataDir, rpcUrl: chain.rpcUrl, profile: 'realistic' })
  try {
    const grant = await openGrant(realistic, chain.usdc)
    await chain.mint(grant.wallet.address, 1_000_000n)
    const answeredAt = performance.now()
    const { transaction_id } = await transfer(realistic, grant, chain.usdc)
    const told: string[] = []
    let hashAfterMs = 0
    await waitFor('the transaction to be finalized', async () => {
      const { status, transaction_hash } = await realistic.client.transactions().get(transaction_id)
      if (transaction_hash === null) assert.equal(status, 'pending')
      else if (hashAfterMs === 0) hashAfterMs = performance.now() - answeredAt
      if (told.at(-1) !== status) told.push(status)
      return status === 'finalized'
    })
    assert.deepEqual(told, ['pending', 'broadcasted', 'confirmed', 'finalized'])
    // In the realistic profile, a send has no hash for at least 400 ms. A part of this time had passed when the
    // response came.
    assert.ok(hashAfterMs > 300, `${hashAfterMs} ms`)
  } finally {
    await realistic.stop()
    await removeDataDir(dataDir)
  }
})

test('the response to a payment without a sponsor has its hash, and the wallet pays its gas', async () => {
  const grant = await openFundedGrant(3_000_000n)
  const coin = 10n ** 16n
  await chain.setCoin(grant.wallet.address, coin)
  const answer = await pay(grant, { sponsor: false })
  assert.equal(answer.user_operation_hash, undefined)
  const tx = await findTx(answer.transaction_id)
  assert.equal(answer.hash, tx.transaction_hash)
  assert.equal(tx.sponsored, false)
  assert.equal((await chain.findReceipt(await waitForHash(answer.transaction_id))).status, '0x1')
  assert.ok(BigInt(String(await chain.rpc('eth_getBalance', [grant.wallet.address, 'latest']))) < coin)
  await waitFor(
    'the transaction to be confirmed',
    async () => (await findStatus(answer.transaction_id)) === 'confirmed',
  )
  // Sponsored sends are mixed with the wallet's own transactions. The first sponsored send contains an authorization,
  // which uses one of the wallet's nonces.
  const rest = [await pay(grant), await pay(grant, { sponsor: false })]
  for (const { transaction_id } of rest)
    await waitFor('the transaction to be confirmed', async () => (await findStatus(transaction_id)) === 'confirmed')
})

test('a wallet without native coins cannot pay its own gas, and gets the error message of a node', async () => {
  const grant = await openFundedGrant(1_000_000n)
  const again = { sponsor: false, referenceId: randomUUID() }
  await assert.rejects(pay(grant, again), (error: { status: number; error: { code: string; error: string } }) => {
    assert.equal(error.status, 400)
    assert.equal(error.error.code, 'transaction_broadcast_failure')
    assert.match(
      error.error.error,
      /^Transaction creation failed\. Details: insufficient funds for gas \* price \+ value: have 0 want \d+$/,
    )
    return true
  })
  const found = await enclave.request('GET', `/v1/transactions?reference_id=${again.referenceId}`)
  assert.deepEqual(found.body, { transactions: [] })
})

test('a retry gets the first response and signs nothing; the same key with another body is rejected', async () => {
  const grant = await openFundedGrant(2_000_000n)
  const again = { referenceId: randomUUID(), idempotencyKey: randomUUID() }
  const [first, second] = await Promise.all([pay(grant, again), pay(grant, again)])
  assert.deepEqual(first, second)
  assert.deepEqual(await pay(grant, again), first)
  await assert.rejects(pay(grant, { ...again, amountMicro: 2n }), {
    status: 400,
    error: {
      error:
        'Idempotency key was reused for a request with a new body. Please create a new idempotency key for the request.',
      code: 'invalid_data',
    },
  })
  await waitFor('the transaction to be confirmed', async () => (await findStatus(first.transaction_id)) === 'confirmed')
  assert.equal(await chain.balanceOf(grant.wallet.address), 1_000_000n)
})

test('a reference id can be used once, in the wallet and across wallets, even by requests at the same time', async () => {
  const [one, other] = [await openFundedGrant(5_000_000n), await openFundedGrant(5_000_000n)]
  const referenceId = randomUUID()
  const outcomes = await Promise.allSettled(
    [one, other, one, other].map(async (grant) => await pay(grant, { referenceId })),
  )
  assert.equal(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 1)
  await assert.rejects(pay(one, { referenceId }), UNIQUE)
  await assert.rejects(pay(other, { referenceId }), UNIQUE)
})

const REFUSED: readonly [string, TransferInput][] = [
  ['above the cap', { amountMicro: 5_000_001n }],
  ['to another recipient', { to: '0x00000000000000000000000000000000000000aa' }],
]

for (const [name, input] of REFUSED) {
  test(`a payment ${name} is rejected by policy, is not stored under its key, and leaves nothing behind`, async () => {
    const grant = await openFundedGrant(10_000_000n)
    const again = { ...input, referenceId: randomUUID(), idempotencyKey: randomUUID() }
    await assert.rejects(pay(grant, again), VIOLATION)
    await assert.rejects(pay(grant, again), VIOLATION)
    const found = await enclave.request('GET', `/v1/transactions?reference_id=${again.referenceId}`)
    assert.deepEqual(found.body, { transactions: [] })
    // The owner widens the policy, signed by a passkey. Then the same idempotency key works for the payment.
    await widenPolicy(grant)
    assert.equal((await pay(grant, again)).hash, '')
  })
}

async function widenPolicy({ policy, wallet, passkey, signer }: TestGrant): Promise<void> {
  const wide = formatPolicy(chain.usdc, 0n).rules.map((rule) => ({
    ...rule,
    conditions: rule.conditions.filter(({ field }) => field === 'to'),
  }))
  const wider = await enclave.client.policies().create({
    version: '1.0',
    name: 'wider',
    chain_type: 'ethereum',
    rules: wide,
    owner_id: policy.owner_id,
  })
  const body = { additional_signers: [{ ...signer, override_policy_ids: [wider.id] }] }
  await signedUpdate(enclave, { wallet, passkey, body })
}

test('a payment above the balance fails in the simulation, before the policy check, and the failure is stored', async () => {
  const grant = await openFundedGrant(1_000_000n)
  const again = { amountMicro: 50_000_000n, referenceId: randomUUID(), idempotencyKey: randomUUID() }
  await assert.rejects(pay(grant, again), (error: { status: number; error: { code: string; error: string } }) => {
    assert.equal(error.status, 400)
    assert.equal(error.error.code, 'transaction_broadcast_failure')
    assert.match(error.error.error, /^Transaction creation failed\. Details: /)
    return true
  })
  await chain.mint(grant.wallet.address, 100_000_000n)
  await assert.rejects(pay(grant, again), { status: 400 })
  // The balance is now sufficient, so the enclave checks the policy.
  await assert.rejects(pay(grant, { ...again, idempotencyKey: randomUUID() }), VIOLATION)
})

test('30 payments at once are all mined, each in its own transaction', async () => {
  const grant = await openFundedGrant(30_000_000n)
  const answers = await Promise.all(Array.from({ length: 30 }, async () => await pay(grant)))
  for (const { transaction_id } of answers)
    await waitFor('the transaction to be confirmed', async () => (await findStatus(transaction_id)) === 'confirmed')
  const hashes = await Promise.all(answers.map(({ transaction_id }) => waitForHash(transaction_id)))
  assert.equal(new Set(hashes).size, 30)
  assert.equal(await chain.balanceOf(grant.wallet.address), 0n)
})

test('30 payments at once that pay their own gas are all mined, in the order of their nonces', async () => {
  const grant = await openFundedGrant(30_000_000n)
  await chain.setCoin(grant.wallet.address, 10n ** 18n)
  const answers = await Promise.all(Array.from({ length: 30 }, async () => await pay(grant, { sponsor: false })))
  const nonces = await Promise.all(
    answers.map(async ({ hash }) => {
      assert.equal((await chain.findReceipt(hash || '0x')).status, '0x1')
      return Number(((await chain.rpc('eth_getTransactionByHash', [hash])) as { nonce: string }).nonce)
    }),
  )
  assert.deepEqual(
    nonces.sort((left, right) => left - right),
    Array.from({ length: 30 }, (_, index) => index),
  )
})

test('of payments at once that exceed the balance together, only those that the balance covers succeed', async () => {
  const grant = await openFundedGrant(3_000_000n)
  // The balance at the latest block is enough for each send alone, but not for all of them. The provider simulates each
  // send at that block, without the other sends, so it accepts all of them.
  const answers = await Promise.all(Array.from({ length: 8 }, async () => await pay(grant)))
  const ids = answers.map(({ transaction_id }) => transaction_id)
  const ends = ['confirmed', 'execution_reverted']
  for (const id of ids) await waitFor('the transaction to end', async () => ends.includes(await findStatus(id)))
  const statuses = await Promise.all(ids.map(findStatus))
  assert.equal(statuses.filter((status) => status === 'confirmed').length, 3)
})

test("a revoked signer's payment is 401", async () => {
  const grant = await openFundedGrant(1_000_000n)
  await signedUpdate(enclave, { ...grant, body: { additional_signers: [] } })
  await assert.rejects(pay(grant), { status: 401 })
})

test("the owner's passkey can pay without a policy; a signer without a policy cannot", async () => {
  const grant = await openFundedGrant(20_000_000n)
  const bare = [{ signer_id: grant.signer.signer_id }]
  const wallet = await signedUpdate(enclave, { ...grant, body: { additional_signers: bare } })
  await assert.rejects(pay({ ...grant, wallet }), VIOLATION)
  const owner = await loadSdk().generateP256KeyPair()
  const owned = await enclave.client
    .wallets()
    .create({ chain_type: 'ethereum', owner: { public_key: owner.publicKey } })
  await chain.mint(owned.address, 9_000_000n)
  const answer = await transfer(enclave, { wallet: owned, agent: owner }, chain.usdc, { amountMicro: 9_000_000n })
  assert.equal(answer.hash, '')
})

test('an owner sends more than any grant allows, with `from` signed, and never for another wallet', async () => {
  const grant = await openFundedGrant(20_000_000n)
  const other = await openFundedGrant(20_000_000n)
  const send = async (from: string, { passkey } = grant) => {
    const { params, ...rest } = formatTransfer(chain.usdc, { amountMicro: 20_000_000n })
    const transaction = { ...params.transaction, from }
    const body = { method: 'eth_sendTransaction', chain_type: 'ethereum', ...rest, params: { transaction } }
    const path = `/v1/wallets/${grant.wallet.id}/rpc`
    const expiry = Date.now() + 60_000
    const signature = assertRequest(passkey, { method: 'POST', url: enclave.url + path, body, expiry })
    const headers = { 'privy-authorization-signature': signature, 'privy-request-expiry': String(expiry) }
    return await enclave.request('POST', path, { body, headers })
  }
  const wrong = await send(other.wallet.address)
  assert.deepEqual([wrong.status, wrong.body.code], [400, 'invalid_data'])
  assert.equal((await send(grant.wallet.address, other)).status, 401)
  assert.equal((await send(grant.wallet.address)).status, 200)
})

test('what the schema refuses is refused before authorization is looked at', async () => {
  const grant = await openFundedGrant(0n)
  const body = { method: 'eth_sendTransaction', chain_type: 'ethereum', ...formatTransfer(chain.usdc, {}) }
  const { transaction } = body.params
  const path = `/v1/wallets/${grant.wallet.id}/rpc`
  const wrong = [
    { ...body, params: { transaction: { ...transaction, value: '0' } } },
    { ...body, params: { transaction: { ...transaction, gas: 1 } } },
    { ...body, reference_id: 'x'.repeat(65) },
    { ...body, speed: 'fast' },
    { ...body, caip2: '84532' },
  ]
  for (const sent of wrong) {
    const answer = await enclave.request('POST', path, { body: sent })
    assert.equal(answer.status, 400, JSON.stringify(sent))
    assert.equal(answer.body.code, 'invalid_data')
  }
  assert.equal((await enclave.request('POST', path, { body })).status, 401)
})
