import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { startTestChain } from '../../test/support/test-chain.ts'
import type { TestChain } from '../../test/support/test-chain.ts'
import type { WireTransaction } from '../../test/support/test-client.ts'
import { makeDataDir, removeDataDir, startTestEnclave } from '../../test/support/test-enclave.ts'
import type { TestEnclave } from '../../test/support/test-enclave.ts'
import { openGrant, transfer } from '../../test/support/test-grant.ts'
import type { TestGrant, TransferInput } from '../../test/support/test-grant.ts'
import { waitFor } from '../../../test/support/wait-for.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const FUNDS = 100_000_000n
const SENT = 1_000_000n
const UNIQUE = { status: 400, error: { error: 'reference_id must be unique', code: 'invalid_data' } }

let chain: TestChain
let enclave: TestEnclave
let grant: TestGrant

before(async () => {
  chain = await startTestChain()
  enclave = await startTestEnclave({ dataDir: await makeDataDir(), rpcUrl: chain.rpcUrl })
  grant = await openGrant(enclave, chain.usdc)
  await chain.mint(grant.wallet.address, FUNDS)
})

after(async () => {
  await enclave.stop()
  await chain.stop()
  await removeDataDir(enclave.dataDir)
})

const pay = async (input: TransferInput) => await transfer(enclave, grant, chain.usdc, input)
const listByReference = async (referenceId: string) =>
  (await enclave.request('GET', `/v1/transactions?reference_id=${referenceId}`)).body[
    'transactions'
  ] as WireTransaction[]
const makeKeys = () => ({ referenceId: randomUUID(), idempotencyKey: randomUUID() })

/** Makes a send, and waits until it is mined and nothing else has left the wallet. Each test ends with no send under way. */
async function payAndLand(input: TransferInput) {
  const start = await chain.balanceOf(grant.wallet.address)
  const sent = await pay(input)
  await waitFor('the send is mined', async () => (await chain.balanceOf(grant.wallet.address)) === start - SENT)
  return sent
}

test('a stored response is repeated for 24 hours, whatever the expiry of the repeated request is', async () => {
  const keys = makeKeys()
  const first = await payAndLand({ ...keys, expiry: Date.now() + 2 * DAY_MS })
  await enclave.moveClock(DAY_MS - 60_000)
  try {
    assert.deepEqual(await pay({ ...keys, expiry: Date.now() + 3 * DAY_MS }), first)
    await enclave.moveClock(DAY_MS + 1_000)
    await assert.rejects(pay({ ...keys, expiry: Date.now() + 3 * DAY_MS }), UNIQUE)
  } finally {
    await enclave.moveClock(0)
  }
  assert.equal((await listByReference(keys.referenceId)).length, 1)
})

test('a stored response can be forgotten: the reference id is then all that prevents a second send', async () => {
  const keys = makeKeys()
  const { transaction_id: first } = await payAndLand(keys)
  await enclave.control('forget-answers', {})
  // The failure is stored in turn, so the key stays without a second send.
  await assert.rejects(pay(keys), UNIQUE)
  await enclave.control('references', { repeated: 'allow' })
  try {
    await assert.rejects(pay(keys), UNIQUE)
    await enclave.control('forget-answers', {})
    const { transaction_id: second } = await payAndLand(keys)
    assert.notEqual(second, first)
    const listed = await listByReference(keys.referenceId)
    assert.deepEqual(
      listed.map(({ id }) => id),
      [first, second],
    )
    await waitFor('both have a hash', async () =>
      (await listByReference(keys.referenceId)).every(({ transaction_hash: hash }) => hash !== null),
    )
    const hashes = (await listByReference(keys.referenceId)).map(({ transaction_hash: hash }) => hash)
    assert.equal(new Set(hashes).size, 2)
  } finally {
    await enclave.control('references', { repeated: 'collide' })
  }
  await assert.rejects(pay({ ...makeKeys(), referenceId: keys.referenceId }), UNIQUE)
})
