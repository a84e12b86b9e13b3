import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'
import { fetchOnce } from '../lib/fetch-once.ts'
import { startTestChain } from '../../test/support/test-chain.ts'
import type { TestChain } from '../../test/support/test-chain.ts'
import type { WireTransaction } from '../../test/support/test-client.ts'
import { makeDataDir, removeDataDir, startTestEnclave } from '../../test/support/test-enclave.ts'
import type { TestEnclave } from '../../test/support/test-enclave.ts'
import { openGrant, signedUpdate, transfer } from '../../test/support/test-grant.ts'
import type { TestGrant, TransferInput } from '../../test/support/test-grant.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { ANSWER_FAULTS } from './answer-faults.ts'
import type { AnswerFault } from './answer-faults.ts'
import { createFaults, SEND_FAULTS } from './faults.ts'
import type { StatusFault } from './faults.ts'

const FUNDS = 100_000_000n
const SENT = 1_000_000n

let chain: TestChain
let enclave: TestEnclave
let grant: TestGrant

before(async () => {
  chain = await startTestChain()
  enclave = await startTestEnclave({ dataDir: await makeDataDir(), rpcUrl: chain.rpcUrl })
  grant = await openGrant(enclave, chain.usdc)
  await chain.mint(grant.wallet.address, FUNDS)
})

afterEach(async () => {
  assert.equal(await enclave.countFaults(), 0)
})

after(async () => {
  await enclave.stop()
  await chain.stop()
  await removeDataDir(enclave.dataDir)
})

const pay = async (input: TransferInput = {}) => await transfer(enclave, grant, chain.usdc, input)
const findTx = async (id: string) => await enclave.client.transactions().get(id)
const findByReference = async (referenceId: string) =>
  (await enclave.request('GET', `/v1/transactions?reference_id=${referenceId}`)).body[
    'transactions'
  ] as WireTransaction[]
const balance = async () => await chain.balanceOf(grant.wallet.address)

/** Waits until `count` sends have been mined since the balance was `start`. */
const waitForLanding = async (start: bigint, count = 1n) => {
  await waitFor('the balance to have changed', async () => (await balance()) === start - count * SENT)
}

interface Expected {
  readonly status: number
  readonly code?: string
  readonly retryAfter?: string
  readonly isPage?: true
}

const BROADCAST = { status: 400, code: 'transaction_broadcast_failure' }
const CONFLICT = { status: 409, code: 'resource_conflict' }
const BAD_GATEWAY = { status: 502, isPage: true } as const

const ANSWERS: Readonly<Record<Exclude<AnswerFault, 'not_json' | 'not_json_lands'>, Expected>> = {
  reject: { status: 400, code: 'policy_violation' },
  unavailable: { status: 503 },
  rate_limited: { status: 429, code: 'too_many_requests', retryAfter: '1' },
  credits_spent: { status: 400, code: 'insufficient_funds' },
  sponsorship_off: { status: 400, code: 'invalid_data' },
  broadcast_failed: BROADCAST,
  broadcast_failed_lands: BROADCAST,
  server_error: { status: 500 },
  server_error_lands: { status: 500 },
  conflict: CONFLICT,
  conflict_lands: CONFLICT,
  request_timeout: { status: 408 },
  request_expired: { status: 401, code: 'request_expired' },
  duplicate_reference: { status: 400, code: 'invalid_data' },
  bad_credentials: { status: 401 },
  unknown_wallet: { status: 404 },
  forbidden_page: { status: 403, isPage: true },
  bad_gateway: BAD_GATEWAY,
  bad_gateway_lands: BAD_GATEWAY,
}

for (const [fault, expected] of Object.entries(ANSWERS)) {
  const lands = fault.endsWith('_lands')
  test(`${fault} is ${expected.status}, and ${lands ? 'the transfer is sent anyway' : 'nothing is sent'}`, async () => {
    const start = await balance()
    const referenceId = randomUUID()
    await enclave.orderFault(fault as AnswerFault)
    await assert.rejects(pay({ referenceId }), (error: SdkError) => {
      assert.equal(error.status, expected.status)
      assert.equal(error.error?.code, expected.code)
      assert.equal(error.headers.get('retry-after'), expected.retryAfter ?? null)
      assert.match(error.headers.get('content-type') ?? '', expected.isPage ? /^text\/html/ : /^application\/json/)
      return true
    })
    assert.equal((await findByReference(referenceId)).length, lands ? 1 : 0)
    if (lands) await waitForLanding(start)
  })
}

interface SdkError {
  readonly status: number
  readonly error?: { readonly code?: string }
  readonly headers: Headers
}

for (const fault of ['not_json', 'not_json_lands'] as const) {
  test(`${fault} is 200 with a page`, async () => {
    const start = await balance()
    const referenceId = randomUUID()
    await enclave.orderFault(fault)
    const answer: unknown = await pay({ referenceId }).catch(() => null)
    assert.ok(typeof answer !== 'object' || answer === null)
    assert.equal((await findByReference(referenceId)).length, fault === 'not_json' ? 0 : 1)
    if (fault === 'not_json_lands') await waitForLanding(start)
  })
}

test("a failure is stored under its key, but not a rejection by policy, a rate limit, or a gateway's response", async () => {
  const start = await balance()
  const kept: readonly AnswerFault[] = ['credits_spent', 'broadcast_failed', 'server_error', 'server_error_lands']
  for (const fault of kept) {
    const again = { referenceId: randomUUID(), idempotencyKey: randomUUID() }
    await enclave.orderFault(fault)
    const first = await pay(again).catch((error: SdkError) => error.status)
    assert.equal(await pay(again).catch((error: SdkError) => error.status), first, fault)
  }
  for (const fault of ['reject', 'rate_limited', 'conflict', 'bad_gateway', 'bad_gateway_lands'] as const) {
    const again = { referenceId: randomUUID(), idempotencyKey: randomUUID() }
    await enclave.orderFault(fault)
    await assert.rejects(pay(again))
    assert.equal((await pay(again)).reference_id, again.referenceId, fault)
  }
  // Each send of the second loop landed once. So did the send with the fault `server_error_lands` in the first loop,
  // although its response was a failure.
  await waitForLanding(start, 6n)
})

/**
 * Makes a send with this fault. Returns the statuses that the API reported for it, in order, as `status` or
 * `status+hash`.
 */
async function watchTelling(fault: StatusFault, last: string): Promise<{ told: string[]; tx: WireTransaction }> {
  await enclave.orderFault(fault)
  const { transaction_id } = await pay()
  const told: string[] = []
  await waitFor(`the status ${last}`, async () => {
    const { status, transaction_hash } = await findTx(transaction_id)
    const line = transaction_hash === null ? status : `${status}+hash`
    if (told.at(-1) !== line) told.push(line)
    return line === last
  })
  return { told: told.filter((line) => line !== 'pending'), tx: await findTx(transaction_id) }
}

const LATE: readonly [StatusFault, string, readonly string[]][] = [
  ['failed_lands_later', 'failed+hash', ['failed', 'failed+hash']],
  ['provider_error_lands', 'provider_error+hash', ['provider_error', 'provider_error+hash']],
]

for (const [fault, last, expected] of LATE) {
  test(`${fault}: the provider reports a failure, and the transfer lands later, in the transaction whose hash it then has`, async () => {
    const start = await balance()
    const { told, tx } = await watchTelling(fault, last)
    assert.deepEqual(told, expected)
    assert.equal((await chain.findReceipt(tx.transaction_hash ?? '0x')).status, '0x1')
    await waitForLanding(start)
  })
}

for (const [fault, status] of [
  ['failed_never_lands', 'failed'],
  ['provider_error', 'provider_error'],
] as const) {
  test(`${fault}: the provider reports a failure, and nothing ever lands`, async () => {
    const start = await balance()
    await watchTelling(fault, status)
    // Make a second send and wait until it is mined. If the enclave had sent the first one, the first one would be
    // mined by then too, and the balance would be lower.
    await pay()
    await waitForLanding(start)
  })
}

test('replaced: a transaction other than the first one lands, and the send has its hash', async () => {
  const start = await balance()
  const { told, tx } = await watchTelling('replaced', 'replaced+hash')
  assert.deepEqual(told, ['broadcasted+hash', 'replaced+hash'])
  assert.equal((await chain.findReceipt(tx.transaction_hash ?? '0x')).status, '0x1')
  await waitForLanding(start)
})

test('replaced_old_hash: the send keeps the hash of the transaction that never lands', async () => {
  const start = await balance()
  const { tx } = await watchTelling('replaced_old_hash', 'replaced+hash')
  await waitForLanding(start)
  assert.equal(await chain.rpc('eth_getTransactionReceipt', [tx.transaction_hash]), null)
  assert.equal((await findTx(tx.id)).transaction_hash, tx.transaction_hash)
})

test('never_gets_hash: it stays pending without a hash, although it lands', async () => {
  const start = await balance()
  await enclave.orderFault('never_gets_hash')
  const { transaction_id } = await pay()
  await waitForLanding(start)
  const { status, transaction_hash } = await findTx(transaction_id)
  assert.deepEqual({ status, transaction_hash }, { status: 'pending', transaction_hash: null })
})

test('reverted_without_hash: the operation fails on the chain, and the provider reports no hash', async () => {
  const start = await balance()
  const { tx } = await watchTelling('reverted_without_hash', 'execution_reverted')
  assert.equal(tx.transaction_hash, null)
  assert.equal(await balance(), start)
})

test('two_in_one_bundle: the next two sends share a transaction, and each has its own event in it', async () => {
  const start = await balance()
  await enclave.orderFault('two_in_one_bundle')
  const [one, two, alone] = await Promise.all([pay(), pay(), pay()])
  await waitForLanding(start, 3n)
  const hashes = await Promise.all(
    [one, two, alone].map(async ({ transaction_id }) => (await findTx(transaction_id)).transaction_hash),
  )
  assert.equal(new Set(hashes).size, 2)
  const shared = hashes.find((hash, index) => hashes.indexOf(hash) !== index) ?? '0x'
  const { logs } = await chain.findReceipt(shared)
  const events = logs.filter(({ topics }) => topics[0]?.startsWith('0x49628fd1'))
  assert.equal(new Set(events.map(({ topics }) => topics[1])).size, 2)
})

test('a send that pays its own gas is not affected by faults of user operations', async () => {
  await chain.setCoin(grant.wallet.address, 10n ** 18n)
  const start = await balance()
  await enclave.orderFault('failed_never_lands')
  const { transaction_id } = await pay({ sponsor: false })
  await waitFor('the transaction to be confirmed', async () => (await findTx(transaction_id)).status === 'confirmed')
  assert.equal(await enclave.countFaults(), 1)
  await enclave.control('faults', { fault: 'none' })
  await waitForLanding(start)
})

test("reads_lag: reads return an earlier state, but the enclave's own checks do not", async () => {
  const start = await balance()
  const referenceId = randomUUID()
  const { transaction_id } = await pay({ referenceId })
  await enclave.orderFault('reads_lag', 2)
  assert.deepEqual(await findByReference(referenceId), [])
  await assert.rejects(findTx(transaction_id), { status: 404 })
  assert.equal((await findByReference(referenceId)).length, 1)
  await waitForLanding(start)

  const other = await openGrant(enclave, chain.usdc)
  const revoked = await signedUpdate(enclave, { ...other, body: { additional_signers: [] } })
  await enclave.orderFault('reads_lag')
  await assert.rejects(enclave.client.wallets().get(revoked.id), { status: 404 })
  await assert.rejects(transfer(enclave, other, chain.usdc), { status: 401 })
  assert.deepEqual(await enclave.client.wallets().get(revoked.id), revoked)
})

test("the enclave's clock can differ: its Date header shows it, and it decides by it whether a request has expired", async () => {
  const readDate = async (): Promise<number> => {
    const { headers } = await fetchOnce(`${enclave.url}/v1/wallets/${grant.wallet.id}`)
    return Date.parse(headers.get('date') ?? '')
  }
  const expiry = Date.now() + 60_000
  await enclave.control('clock', { skew_ms: 90_000 })
  assert.ok((await readDate()) > Date.now() + 80_000)
  await assert.rejects(pay({ expiry }), {
    status: 401,
    error: { error: 'The request has expired', code: 'request_expired' },
  })
  await enclave.control('clock', { skew_ms: -90_000 })
  assert.ok((await readDate()) < Date.now() - 80_000)
  await pay({ expiry: Date.now() - 30_000 })
  await enclave.control('clock', { skew_ms: 0 })
  await pay({ expiry })
})

test('the profile can be chosen while the enclave runs', async () => {
  await enclave.control('profile', { profile: 'realistic' })
  const { transaction_id } = await pay()
  assert.equal((await findTx(transaction_id)).transaction_hash, null)
  await enclave.control('profile', { profile: 'fast' })
  await waitFor("the transaction's hash", async () => (await findTx(transaction_id)).transaction_hash !== null)
})

test('random faults affect their share of the sends, the same ones for the same seed', () => {
  const draw = (seed: number): string[] => {
    const faults = createFaults()
    faults.orderRandom({ share: 0.2, seed, faults: SEND_FAULTS })
    return Array.from({ length: 5_000 }, () => faults.take({ isSponsored: true }) ?? '')
  }
  const first = draw(1)
  const met = first.filter((fault) => fault !== '')
  assert.ok(met.length > 900 && met.length < 1_100, `${met.length} of 5,000`)
  assert.equal(new Set(met).size, SEND_FAULTS.length)
  assert.deepEqual(draw(1), first)
  assert.notDeepEqual(draw(2), first)
})

test('ordered faults come before random ones, and canceled ones have no effect', () => {
  const faults = createFaults()
  faults.orderRandom({ share: 1, seed: 0, faults: ['reject'] })
  faults.order('conflict', 1)
  assert.equal(faults.take({ isSponsored: true }), 'conflict')
  assert.equal(faults.take({ isSponsored: true }), 'reject')
  faults.clear()
  assert.equal(faults.take({ isSponsored: true }), null)
})

test('every fault with its own response is in the table above', () => {
  assert.deepEqual([...Object.keys(ANSWERS), 'not_json', 'not_json_lands'].sort(), [...ANSWER_FAULTS].sort())
})
