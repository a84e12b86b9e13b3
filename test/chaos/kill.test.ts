import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { before, describe, test } from 'node:test'
import { referenceId } from '../../server/src/domain/payments/derived-ids.ts'
import type { Hold } from '../support/wires/enclave-proxy.ts'
import {
  listPaymentEvents,
  createPayer,
  pay,
  readAgent,
  readPayment,
  waitForRecord,
  type PayerFixture,
} from '../support/sandbox/payer-fixture.ts'
import { waitFor } from '../support/wait-for.ts'
import { openGatedFixture, type GatedFixture } from '../support/sandbox/sandbox-fixture.ts'

/**
 * After this time, all leases of a dead server have expired, and so have its attempts to pay. The reconciler's lease is
 * the longest.
 */
const LEASES_SECONDS = 31
/** The enclave rejects a request that was signed longer ago than this, because its signature has expired. */
const SETTLING_SECONDS = 10 * 60
/** How many payments arrive together, so that they are reserved in batches. */
const TOGETHER = 6
const CAP_USDC = '100'
const AMOUNT_USDC = '2.50'
const AMOUNT_MICRO = 2_500_000n
const REMAINING_USDC = '97.5'
const ACCEPT_STATEMENT = 'mark_free_payments_accepted'

interface Step {
  readonly name: string
  /** Whether the enclave had already signed when the server died. */
  readonly isSigned: boolean
  /** Whether the service had recorded the enclave's acceptance when the server died. */
  readonly isWritten: boolean
  readonly hold: (fixture: GatedFixture) => Pick<Hold, 'held'> & Partial<Hold>
}

const STEPS: readonly Step[] = [
  {
    name: 'after the reservation, before the enclave has received the request',
    isSigned: false,
    isWritten: false,
    hold: ({ enclave }) => enclave.hold('request'),
  },
  {
    name: 'after the enclave has signed, before its response arrives',
    isSigned: true,
    isWritten: false,
    hold: ({ enclave }) => enclave.hold('answer'),
  },
  {
    name: "when the enclave's answer is there, before it is written",
    isSigned: true,
    isWritten: false,
    hold: ({ database }) => database.hold(ACCEPT_STATEMENT, 'request'),
  },
  {
    name: 'after the acceptance is recorded, before the HTTP response is sent',
    isSigned: true,
    isWritten: true,
    hold: ({ database }) => database.hold(ACCEPT_STATEMENT, 'answer'),
  },
]

describe('a server that is killed in the middle of a payment', () => {
  let fixture: GatedFixture
  before(async () => {
    fixture = await openGatedFixture()
  })

  for (const step of STEPS) {
    test(`${step.name}: a retry with the same key pays once`, async () => {
      const { payer, key, hold } = await killDuringPayment(step)
      await fixture.advanceClock(LEASES_SECONDS)
      const retried = await pay(fixture, payer, { amount_usdc: AMOUNT_USDC, idempotency_key: key })
      assert.equal(retried.status, 201, retried.text)
      assert.equal(retried.headers['idempotent-replayed'], 'true')
      // Forwards what was held back when the server died. If this is the request to the enclave, the enclave rejects
      // it, because it has expired.
      await hold.release?.()
      await checkPaidOnce(payer, retried.body.payment.id)
    })

    if (!step.isSigned) continue
    test(`${step.name}: without a retry, the payment is confirmed too`, async () => {
      const { payer, id } = await killDuringPayment(step)
      await fixture.advanceClock(LEASES_SECONDS)
      await checkPaidOnce(payer, id)
    })
  }

  test('payments that were reserved together, after the reservations and before the enclave: retries pay each once', async () => {
    const payers: PayerFixture[] = []
    while (payers.length < TOGETHER) payers.push(await createPayer(fixture, { dailyCapUsdc: CAP_USDC }))
    const holds = payers.map(() => fixture.enclave.hold('request'))
    const keys = payers.map(() => randomUUID())
    const order = (index: number) => ({ amount_usdc: AMOUNT_USDC, idempotency_key: keys[index] })
    const lost = Promise.allSettled(payers.map((payer, index) => pay(fixture, payer, order(index))))
    await Promise.all(holds.map(({ held }) => held))
    await fixture.sandbox.killServer('SIGKILL')
    await lost
    await fixture.sandbox.startServer()
    await fixture.advanceClock(LEASES_SECONDS)
    const retried = await Promise.all(payers.map((payer, index) => pay(fixture, payer, order(index))))
    // The enclave rejects the dead server's requests, which arrive now.
    for (const hold of holds) assert.ok((await hold.release()) >= 400)
    for (const [index, { status, headers, body, text }] of retried.entries()) {
      assert.equal(status, 201, text)
      assert.equal(headers['idempotent-replayed'], 'true')
      await checkPaidOnce(payers[index] ?? assert.fail('no payer'), body.payment.id)
    }
  })

  test('a payment that never reached the enclave and is not retried fails after the settling time, and frees the cap', async () => {
    const { payer, id, reference, hold } = await killDuringPayment(STEPS[0])
    const lookUp = `/v1/transactions?reference_id=${reference}`
    const countLookUps = (): number => fixture.enclave.requests.filter(({ path }) => path === lookUp).length
    await fixture.advanceClock(LEASES_SECONDS)
    await waitFor('two rounds of the reconciler', () => countLookUps() >= 2)
    assert.equal((await readPayment(fixture, payer, id)).status, 'pending')
    assert.equal((await readAgent(fixture, payer)).wallets[0]?.['remaining_24h_usdc'], REMAINING_USDC)

    await fixture.advanceClock(SETTLING_SECONDS)
    await waitForRecord(fixture, id, 'failed')
    assert.equal((await readPayment(fixture, payer, id)).tx_hash, null)
    assert.equal((await readAgent(fixture, payer)).wallets[0]?.['remaining_24h_usdc'], CAP_USDC)
    assert.deepEqual(await listPaymentEvents(fixture, id), ['payment.created', 'payment.failed'])
    assert.ok(((await hold.release?.()) ?? 0) >= 400, 'the enclave took a request that had expired')
    assert.deepEqual(await fixture.chains.test.listTransfers(payer.wallet), [])
  })

  test('after SIGTERM, a payment that is in progress is finished', async () => {
    const payer = await createPayer(fixture, { dailyCapUsdc: CAP_USDC })
    const hold = fixture.enclave.hold('answer')
    const paying = pay(fixture, payer, { amount_usdc: AMOUNT_USDC })
    await hold.held
    const stopped = fixture.sandbox.killServer('SIGTERM')
    await waitFor('the server takes no new connections', () => isRefused(fixture.port))
    await hold.release()
    const { status, body, text } = await paying
    assert.equal(status, 201, text)
    await stopped
    await fixture.sandbox.startServer()
    await checkPaidOnce(payer, body.payment.id)
  })

  async function killDuringPayment(step: Step | undefined) {
    if (step === undefined) throw new Error('nothing to hold')
    const payer = await createPayer(fixture, { dailyCapUsdc: CAP_USDC })
    const hold = step.hold(fixture)
    const key = randomUUID()
    const lost = assert.rejects(pay(fixture, payer, { amount_usdc: AMOUNT_USDC, idempotency_key: key }))
    await hold.held
    await fixture.sandbox.killServer('SIGKILL')
    await lost
    const rows = await fixture.query(
      'select id, workspace_id, enclave_transaction_id from payments where idempotency_key = $1',
      [key],
    )
    assert.equal(rows.length, 1, 'the reservation is committed')
    assert.equal(rows[0]?.['enclave_transaction_id'] !== null, step.isWritten)
    await fixture.sandbox.startServer()
    const id = String(rows[0]?.['id'])
    const workspaceId = String(rows[0]?.['workspace_id'])
    return { payer, key, hold, id, reference: referenceId({ id, workspaceId, mode: 'test', idempotencyKey: key }) }
  }

  /**
   * Checks that exactly one transfer was made, that the cap and the record are right, and that each event exists once.
   */
  async function checkPaidOnce(payer: PayerFixture, id: string): Promise<void> {
    await waitForRecord(fixture, id, 'confirmed')
    const payment = await readPayment(fixture, payer, id)
    const transfers = await fixture.chains.test.listTransfers(payer.wallet)
    assert.deepEqual(
      transfers.map(({ txHash, amountMicro, to }) => ({ txHash, amountMicro, to })),
      [{ txHash: payment.tx_hash, amountMicro: AMOUNT_MICRO, to: payer.recipient.toLowerCase() }],
    )
    assert.equal((await readAgent(fixture, payer)).wallets[0]?.['remaining_24h_usdc'], REMAINING_USDC)
    assert.deepEqual(await listPaymentEvents(fixture, id), ['payment.created', 'payment.confirmed'])
  }
})

async function isRefused(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', () => resolve(true))
  })
}
