import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import type { Hash } from 'viem'
import { startTestChain } from '../../test/support/test-chain.ts'
import type { TestChain } from '../../test/support/test-chain.ts'
import { makeDataDir, removeDataDir, startTestEnclave } from '../../test/support/test-enclave.ts'
import type { TestEnclave } from '../../test/support/test-enclave.ts'
import { openGrant, transfer } from '../../test/support/test-grant.ts'
import type { TestGrant, TransferInput } from '../../test/support/test-grant.ts'
import type { WireTransaction } from '../../test/support/test-client.ts'
import { waitFor } from '../../../test/support/wait-for.ts'

interface PooledTransaction {
  readonly from: string
}

let chain: TestChain
let enclave: TestEnclave

before(async () => {
  chain = await startTestChain()
  enclave = await startTestEnclave({ dataDir: await makeDataDir(), rpcUrl: chain.rpcUrl })
})

after(async () => {
  await enclave.stop()
  await chain.stop()
  await removeDataDir(enclave.dataDir)
})

// A test that fails must not leave the next ones without blocks.
afterEach(() => chain.setMining(true))

async function openFundedGrant(): Promise<TestGrant> {
  const grant = await openGrant(enclave, chain.usdc)
  await chain.mint(grant.wallet.address, 100_000_000n)
  return grant
}

const pay = async (grant: TestGrant, input: TransferInput = {}) => await transfer(enclave, grant, chain.usdc, input)
const findTx = async (id: string) => await enclave.client.transactions().get(id)
const findByReference = async (referenceId: string) =>
  (await enclave.request('GET', `/v1/transactions?reference_id=${referenceId}`)).body[
    'transactions'
  ] as WireTransaction[]
/** Returns the wallet's balance on the chain, in micro-USDC. */
const balanceOf = async (grant: TestGrant) => await chain.balanceOf(grant.wallet.address)
const waitForStatus = async (id: string, status: string) => {
  await waitFor('the transaction to have the status', async () => (await findTx(id)).status === status)
}
const waitForHash = async (id: string): Promise<Hash> => {
  await waitFor("the transaction's hash", async () => (await findTx(id)).transaction_hash !== null)
  return (await findTx(id)).transaction_hash ?? '0x'
}
/** Waits until the transaction is in the chain's pool. The enclave stores its hash before it sends it. */
const findInPool = async (id: string): Promise<PooledTransaction> => {
  const hash = await waitForHash(id)
  const look = async () => (await chain.rpc('eth_getTransactionByHash', [hash])) as PooledTransaction | null
  return await waitFor('the transaction to be in the pool', look)
}
const countNonces = async (grant: TestGrant, tag: string) =>
  Number(await chain.rpc('eth_getTransactionCount', [grant.wallet.address, tag]))
const hasReceipt = async (hash: string) => (await chain.rpc('eth_getTransactionReceipt', [hash])) !== null

test('reject: the next payments are rejected and not signed, and the same key can be used afterwards', async () => {
  const grant = await openFundedGrant()
  await enclave.orderFault('reject', 2)
  const again = { referenceId: randomUUID(), idempotencyKey: randomUUID() }
  for (const _ of [1, 2]) {
    await assert.rejects(pay(grant, again), {
      status: 400,
      error: { error: 'RPC request denied due to policy violation', code: 'policy_violation' },
    })
  }
  assert.equal((await pay(grant, again)).reference_id, again.referenceId)
})

test('unavailable: the payment is 503 and not signed, and the response is not stored under the key', async () => {
  const grant = await openFundedGrant()
  await enclave.orderFault('unavailable')
  const again = { referenceId: randomUUID(), idempotencyKey: randomUUID() }
  await assert.rejects(pay(grant, again), { status: 503 })
  assert.deepEqual(await findByReference(again.referenceId), [])
  await pay(grant, again)
})

test('timeout: the request stays open without a response, nothing is signed, and the same key can be used afterwards', async () => {
  const grant = await openFundedGrant()
  await enclave.orderFault('timeout')
  const again = { referenceId: randomUUID(), idempotencyKey: randomUUID() }
  const held = pay(grant, again)
  await waitFor('the faults to be met', async () => (await enclave.countFaults()) === 0)
  const first = await Promise.race([held.then(() => 'the held one'), pay(grant).then(() => 'the next one')])
  assert.equal(first, 'the next one')
  await restart()
  await assert.rejects(held)
  assert.deepEqual(await findByReference(again.referenceId), [])
  await pay(grant, again)
})

test('a client that gives up on an open request can use its key again at once', async () => {
  const grant = await openFundedGrant()
  await enclave.orderFault('timeout')
  const again = { referenceId: randomUUID(), idempotencyKey: randomUUID() }
  const impatient = { ...enclave, client: enclave.createClient(1_000) }
  await assert.rejects(transfer(impatient, grant, chain.usdc, again))
  assert.equal(await enclave.countFaults(), 0)
  assert.equal((await pay(grant, again)).reference_id, again.referenceId)
})

test('lost_response: the payment is found by its reference, was sent once, and its key replays the response', async () => {
  const grant = await openFundedGrant()
  await enclave.orderFault('lost_response')
  const again = { referenceId: randomUUID(), idempotencyKey: randomUUID() }
  await assert.rejects(pay(grant, again), (error: { status?: number }) => error.status === undefined)
  const [tx] = await findByReference(again.referenceId)
  assert.ok(tx)
  await waitForStatus(tx.id, 'confirmed')
  assert.equal((await pay(grant, again)).transaction_id, tx.id)
  assert.equal(await balanceOf(grant), 99_000_000n)
})

test('a transfer that was ordered to fail passes the simulation, is mined and reverts, and the next one succeeds', async () => {
  const grant = await openFundedGrant()
  await enclave.orderFailingTransfers(1)
  const [failing, next] = [await pay(grant), await pay(grant)]
  await waitForStatus(failing.transaction_id, 'execution_reverted')
  await waitForStatus(next.transaction_id, 'confirmed')
  // The bundle succeeds, but the operation in it fails.
  const receipt = await chain.findReceipt(await waitForHash(failing.transaction_id))
  assert.equal(receipt.status, '0x1')
  assert.equal(receipt.logs.length, 2)
  assert.equal(await balanceOf(grant), 99_000_000n)
})

test('a transfer that pays its own gas and was ordered to fail is mined and reverts', async () => {
  const grant = await openFundedGrant()
  await chain.setCoin(grant.wallet.address, 10n ** 18n)
  await enclave.orderFailingTransfers(1)
  const [failing, next] = [await pay(grant, { sponsor: false }), await pay(grant, { sponsor: false })]
  await waitForStatus(failing.transaction_id, 'execution_reverted')
  await waitForStatus(next.transaction_id, 'confirmed')
  assert.equal((await chain.findReceipt(await waitForHash(failing.transaction_id))).status, '0x0')
})

test('after kill -9, everything that a response confirmed still exists: keys, grants, transactions and nonces', async () => {
  const grant = await openFundedGrant()
  const again = { referenceId: randomUUID(), idempotencyKey: randomUUID() }
  const first = await pay(grant, again)
  await restart()
  assert.deepEqual(await pay(grant, again), first)
  const [tx] = await findByReference(again.referenceId)
  assert.equal(tx?.id, first.transaction_id)
  const second = await pay(grant)
  await waitForStatus(first.transaction_id, 'confirmed')
  await waitForStatus(second.transaction_id, 'confirmed')
  assert.equal(await balanceOf(grant), 98_000_000n)
})

test('only the user of the process can read the key file and the database', async () => {
  const grant = await openFundedGrant()
  assert.ok(grant.wallet.id)
  for (const name of ['enclave.key', 'enclave.db', 'enclave.db-wal']) {
    const { mode } = await stat(join(enclave.dataDir, name))
    assert.equal(mode & 0o777, 0o600, name)
  }
})

test('a second enclave on the same data directory refuses to start', async () => {
  await assert.rejects(startTestEnclave({ dataDir: enclave.dataDir, rpcUrl: chain.rpcUrl }))
})

test('a user operation that is pending when the enclave is killed is bundled after the restart', async () => {
  const grant = await openFundedGrant()
  const dataDir = await makeDataDir()
  const options = { dataDir, rpcUrl: chain.rpcUrl, profile: 'realistic' } as const
  let slow = await startTestEnclave(options)
  try {
    const stranger = await openGrant(slow, chain.usdc)
    await chain.mint(stranger.wallet.address, 1_000_000n)
    const { transaction_id } = await transfer(slow, stranger, chain.usdc)
    await slow.kill()
    assert.equal(await balanceOf(stranger), 1_000_000n)
    slow = await startTestEnclave(options)
    await waitFor(
      'the transaction to be confirmed',
      async () => (await slow.client.transactions().get(transaction_id)).status === 'confirmed',
    )
    assert.equal(await balanceOf(stranger), 0n)
  } finally {
    await slow.stop()
    await removeDataDir(dataDir)
  }
  await pay(grant)
})

for (const sponsor of [true, false]) {
  const kind = sponsor ? 'bundles' : "wallets' own transactions"

  test(`${kind} that the pool has lost are sent again until they are mined`, async () => {
    const grant = await openFundedGrant()
    await chain.setCoin(grant.wallet.address, 10n ** 18n)
    chain.setMining(false)
    const answers = [await pay(grant, { sponsor }), await pay(grant, { sponsor }), await pay(grant, { sponsor })]
    for (const { transaction_id } of answers) await findInPool(transaction_id)
    await chain.rpc('anvil_dropAllTransactions')
    assert.equal(await countNonces(grant, 'pending'), 0)
    chain.setMining(true)
    for (const { transaction_id } of answers) await waitForStatus(transaction_id, 'confirmed')
    assert.equal(await balanceOf(grant), 97_000_000n)
  })

  test(`${kind} whose blocks the chain has lost are open again, and are mined again with the same hashes`, async () => {
    const grant = await openFundedGrant()
    await chain.setCoin(grant.wallet.address, 10n ** 18n)
    const snapshot = await chain.rpc('evm_snapshot')
    const ids = [await pay(grant, { sponsor }), await pay(grant, { sponsor })].map((answer) => answer.transaction_id)
    for (const id of ids) await waitForStatus(id, 'confirmed')
    const hashes = await Promise.all(ids.map(waitForHash))
    chain.setMining(false)
    await chain.rpc('evm_revert', [snapshot])
    await chain.rpc('anvil_dropAllTransactions')
    for (const hash of hashes) assert.equal(await hasReceipt(hash), false)
    for (const id of ids) await waitForStatus(id, 'broadcasted')
    // A payment made in the meantime gets the next nonce, and waits for the earlier payments.
    const third = await pay(grant, { sponsor })
    chain.setMining(true)
    for (const id of [...ids, third.transaction_id]) await waitForStatus(id, 'confirmed')
    for (const hash of hashes) assert.equal(await hasReceipt(hash), true)
    assert.equal(await balanceOf(grant), 97_000_000n)
  })
}

test('if another transaction uses the nonce of a bundle, its user operation is bundled again, and executed once', async () => {
  const grant = await openFundedGrant()
  chain.setMining(false)
  const { transaction_id } = await pay(grant)
  const bundle = await findInPool(transaction_id)
  const hash = await waitForHash(transaction_id)
  await chain.rpc('anvil_dropAllTransactions')
  // Another transaction of the same sender uses the bundle's nonce. The same can happen after the enclave restarted
  // from an older state.
  await chain.rpc('anvil_impersonateAccount', [bundle.from])
  await chain.rpc('eth_sendTransaction', [{ from: bundle.from, to: bundle.from, gas: '0x5208', gasPrice: '0x0' }])
  chain.setMining(true)
  await waitForStatus(transaction_id, 'confirmed')
  assert.notEqual(await waitForHash(transaction_id), hash)
  assert.equal(await balanceOf(grant), 99_000_000n)
})

test('a payment whose block a reorganization replaces is mined again, in another block', async () => {
  const grant = await openFundedGrant()
  const { transaction_id } = await pay(grant)
  await waitForStatus(transaction_id, 'confirmed')
  const hash = await waitForHash(transaction_id)
  chain.setMining(false)
  // On a busy machine, further blocks may have been mined since. The reorganization must replace the transaction's
  // block too.
  const { blockNumber } = await chain.findReceipt(hash)
  const head = String(await chain.rpc('eth_blockNumber', []))
  await chain.reorg(Math.max(Number(BigInt(head) - BigInt(blockNumber)) + 1, 3))
  assert.equal(await hasReceipt(hash), false)
  await waitForStatus(transaction_id, 'broadcasted')
  chain.setMining(true)
  await waitForStatus(transaction_id, 'confirmed')
  assert.equal((await chain.findReceipt(hash)).status, '0x1')
  assert.equal(await balanceOf(grant), 99_000_000n)
})

test('while the chain is unreachable, a payment is 503 and is not signed', async () => {
  const grant = await openFundedGrant()
  const lonely = await makeDataDir()
  const other = await startTestEnclave({ dataDir: lonely, rpcUrl: 'http://127.0.0.1:9' })
  try {
    const stranded = await openGrant(other, chain.usdc)
    await assert.rejects(transfer(other, stranded, chain.usdc), { status: 503 })
  } finally {
    await other.stop()
    await removeDataDir(lonely)
  }
  await pay(grant)
})

async function restart(): Promise<void> {
  await enclave.kill()
  enclave = await startTestEnclave({ dataDir: enclave.dataDir, rpcUrl: chain.rpcUrl })
}
