import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { listEventTypes, readAllowance, readRows } from '../../../../test/support/database/read-rows.ts'
import { paymentRequest, seed, type Seed } from '../../../../test/support/context/seed.ts'
import type { ToldTransaction } from '../../../../test/support/wires/fake-enclave.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createPayment } from '../payment-requests/create-payment.ts'
import { getPayment } from '../payments/get-payment.ts'
import { ATTEMPT_MS, PAYMENT_FENCE_MARGIN_MS, SEND_WINDOW_MS, type Payment, type TxHash } from '../payments/payment.ts'
import { reconcilePayment } from './reconcile-payment.ts'
import { setRequestExpiry, releaseAttempt, claimAttempt } from '../payments/payments-store.ts'

const HASH: TxHash = `0x${'1'.repeat(64)}`
const OTHER_HASH: TxHash = `0x${'2'.repeat(64)}`

interface Row {
  readonly name: string
  /** The fields that are recorded for the payment before the look-up. */
  readonly record?: { readonly txHash?: TxHash; readonly enclaveTransactionId?: string }
  /** The enclave's report about the payment. Null if the enclave never received it. */
  readonly told: ToldTransaction | null
  readonly settled: boolean
  readonly answer: readonly [status: string, txHash: TxHash | null, failure: string | null]
}

const sent = { txHash: HASH, enclaveTransactionId: 'tx' }
const accepted = { enclaveTransactionId: 'tx' }
const broadcasted = { status: 'broadcasted', txHash: HASH }
const givenUp = { status: 'failed', txHash: null }
const pending: Row['answer'] = ['pending', null, null]

/** The expected result of one look-up, for each report of the enclave (D23). */
const ROWS: readonly Row[] = [
  { name: 'never received, within the send window', told: null, settled: false, answer: pending },
  {
    name: 'never received, after the send window',
    told: null,
    settled: true,
    answer: ['failed', null, 'never_received'],
  },
  {
    name: 'accepted without a hash, and no longer known to the enclave',
    record: accepted,
    told: null,
    settled: true,
    answer: pending,
  },
  { name: 'signed', told: broadcasted, settled: false, answer: ['pending', HASH, null] },
  { name: 'signed, found after the send window', told: broadcasted, settled: true, answer: ['pending', HASH, null] },
  { name: 'accepted, no hash yet', told: { status: 'pending', txHash: null }, settled: true, answer: pending },
  { name: 'reported as failed without a hash, within the send window', told: givenUp, settled: false, answer: pending },
  { name: 'reported as failed without a hash, which proves nothing', told: givenUp, settled: true, answer: pending },
  {
    name: 'reported as `provider_error` without a hash, which proves nothing',
    told: { status: 'provider_error', txHash: null },
    settled: true,
    answer: pending,
  },
  {
    name: 'reported as reverted without any hash, within the send window',
    told: { status: 'execution_reverted', txHash: null },
    settled: false,
    answer: pending,
  },
  {
    name: 'reported as reverted without any hash, so that there is nothing to search for',
    told: { status: 'execution_reverted', txHash: null },
    settled: true,
    answer: ['failed', null, 'reverted'],
  },
  {
    name: 'reported as reverted with its user operation, so that the chain decides',
    told: { status: 'execution_reverted', txHash: null, userOperationHash: OTHER_HASH },
    settled: true,
    answer: pending,
  },
  {
    name: 'accepted without a hash, which is reported later',
    record: accepted,
    told: broadcasted,
    settled: false,
    answer: ['pending', HASH, null],
  },
  {
    name: 'replaced by a transaction with another hash',
    record: sent,
    told: { status: 'broadcasted', txHash: OTHER_HASH },
    settled: false,
    answer: ['pending', OTHER_HASH, null],
  },
  {
    name: 'sent, and not in a block yet',
    record: sent,
    told: broadcasted,
    settled: true,
    answer: ['pending', HASH, null],
  },
  {
    name: 'reported as failed with a hash, within the send window',
    record: sent,
    told: { status: 'failed', txHash: HASH },
    settled: false,
    answer: ['pending', HASH, null],
  },
  {
    name: 'reported as failed with a hash, which proves nothing',
    record: sent,
    told: { status: 'failed', txHash: HASH },
    settled: true,
    answer: ['pending', HASH, null],
  },
  {
    name: 'sent, and no longer known to the enclave',
    record: sent,
    told: null,
    settled: true,
    answer: ['pending', HASH, null],
  },
]

describe('reconcilePayment', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  beforeEach(() => {
    given.clock.setOffset(0)
    given.enclave.blind = false
  })
  after(() => given.close())

  for (const { name, record = {}, told, settled, answer } of ROWS) {
    test(`${name}: ${answer[0]}${answer[2] === null ? '' : `, ${answer[2]}`}`, async () => {
      const { payment } = await open(record)
      if (told !== null) given.enclave.told.set(payment.id, told)
      given.clock.setOffset(settled ? SEND_WINDOW_MS : 0)
      goOn()
      const requests = given.enclave.requests.length
      await reconcilePayment(given.context, { payment })
      const { status, txHash, failureCode } = await getPayment(given.context, payment)
      assert.deepEqual([status, txHash, failureCode], answer)
      assert.equal(given.enclave.requests.length, requests, 'the reconciler alone never causes a signature')
    })
  }

  test('that the enclave has no record proves nothing while the request of a late attempt may still arrive', async () => {
    const { payment } = await open({})
    given.clock.setOffset(SEND_WINDOW_MS)
    const until = new Date(given.clock.now().getTime() + ATTEMPT_MS)
    const held = await given.context.db.write(claimAttempt(payment, given.clock.now(), until))
    assert.ok(held !== null)
    const late = await given.context.db.write(setRequestExpiry(held, until))
    assert.ok(late !== null)
    await given.context.db.write(
      releaseAttempt(late, { mayArrive: true, reason: 'outcome_unknown', nextLookupAt: until }),
    )
    await reconcilePayment(given.context, { payment: await getPayment(given.context, payment) })
    assert.equal((await getPayment(given.context, payment)).status, 'pending')
    // One second is added because the enclave reports its time only in whole seconds.
    given.clock.setOffset(SEND_WINDOW_MS + ATTEMPT_MS + PAYMENT_FENCE_MARGIN_MS + 1_000)
    goOn()
    await reconcilePayment(given.context, { payment: await getPayment(given.context, payment) })
    assert.equal((await getPayment(given.context, payment)).status, 'failed')
  })

  test('an enclave that is unavailable changes nothing', async () => {
    const { payment } = await open({})
    given.clock.setOffset(SEND_WINDOW_MS)
    given.enclave.blind = true
    await assert.rejects(reconcilePayment(given.context, { payment }), { name: 'EnclaveUnavailable' })
    assert.equal((await getPayment(given.context, payment)).status, 'pending')
  })

  test('a payment that was never received no longer counts against the allowance, and has one event (D27)', async () => {
    const { payment, seeded } = await open({}, { mode: 'live' })
    given.clock.setOffset(SEND_WINDOW_MS)
    goOn()
    await Promise.all(Array.from({ length: 5 }, () => reconcilePayment(given.context, { payment })))
    assert.equal(await readAllowance(given.context.db, seeded.workspace.id), 0)
    const types = await listEventTypes(given.context.db, seeded.workspace.id)
    assert.deepEqual(types, ['payment.created', 'payment.failed'])
  })

  test('a decision has no effect if another process has claimed a new attempt since', async () => {
    const { payment } = await open({})
    await readRows(given.context.db, 'update payments set attempt = attempt + 1 where id = $1', [payment.id])
    given.clock.setOffset(SEND_WINDOW_MS)
    await reconcilePayment(given.context, { payment })
    assert.equal((await getPayment(given.context, payment)).status, 'pending')
  })

  /**
   * Adds blocks to both chains, so that their newest blocks are later than any time at which a request could arrive.
   */
  function goOn(): void {
    for (const chain of [given.chains.test, given.chains.live]) chain.head += 10n
  }

  /** Creates a payment that got no response from the enclave, and then changes the given fields of its record. */
  async function open(
    record: NonNullable<Row['record']>,
    options: Parameters<typeof seed>[1] = {},
  ): Promise<{ payment: Payment; seeded: Seed }> {
    const seeded = await seed(given.context, options)
    given.enclave.behave = () => 'unavailable'
    await assert.rejects(createPayment(given.context, paymentRequest(seeded)), { code: 'privy_call_failed' })
    const [row] = await readRows(
      given.context.db,
      'update payments set tx_hash = $2, enclave_transaction_id = $3 where workspace_id = $1 returning id',
      [seeded.workspace.id, record.txHash ?? null, record.enclaveTransactionId ?? null],
    )
    const key = { workspaceId: seeded.workspace.id, mode: seeded.mode, id: String(row?.['id']) }
    return { payment: await getPayment(given.context, key), seeded }
  }
})
