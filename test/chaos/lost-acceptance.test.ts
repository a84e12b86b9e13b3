import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startPostgres, type Postgres } from '../../sandbox/src/postgres/start-postgres.ts'
import { migrate } from '../../server/src/db/migrate.ts'
import { createPayment } from '../../server/src/domain/payment-requests/create-payment.ts'
import { getPayment } from '../../server/src/domain/payments/get-payment.ts'
import { ATTEMPT_MS, type Payment } from '../../server/src/domain/payments/payment.ts'
import { reconcilePayment } from '../../server/src/domain/reconciliation/reconcile-payment.ts'
import { listDueForLookup } from '../../server/src/domain/reconciliation/reconciliation-store.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { expectPayment } from '../support/context/expect-outcome.ts'
import { paymentRequest, seed, type Seed } from '../support/context/seed.ts'
import { openTestContext, type TestContext } from '../support/context/test-context.ts'
import { readRows } from '../support/database/read-rows.ts'
import { findFreePort } from '../support/free-port.ts'
import { waitFor } from '../support/wait-for.ts'
import { referenceId } from '../../server/src/domain/payments/derived-ids.ts'

/** The background processes of PostgreSQL that write to the disk. They also write the commits that nobody waits for. */
const WRITERS = ['walwriter', 'background writer', 'checkpointer']
const DUE_MAX = 10
/** Enough pings for each shared connection to get at least one. */
const PINGS = 4

/**
 * The service does not wait until an acceptance is on the disk (decision 0038). Here, PostgreSQL crashes after the
 * caller got its response, and the acceptance is lost.
 */
describe('an acceptance that PostgreSQL loses in a crash', () => {
  let folder: string
  let postgres: Postgres | undefined
  let given: TestContext
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lost-acceptance-'))
    const server = await startPostgres({ dataDir: join(folder, 'postgres'), port: await findFreePort(), durable: true })
    postgres = server
    await migrate(server.url, createClock())
    given = await openTestContext((config) => ({ ...config, database: { ...config.database, url: server.url } }))
  })
  after(async () => {
    await given.close()
    await postgres?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  test('a retry with the same key finds the transfer, and pays nothing', async () => {
    const { seeded, payment, crash } = await payAndHold('retried')
    await crash()
    given.clock.setOffset(ATTEMPT_MS)
    const retried = await createPayment(given.context, paymentRequest(seeded, { idempotencyKey: 'retried' }))
    assert.deepEqual(describePayment(expectPayment(retried, 'replayed')), describePayment(payment))
    checkSignedOnce(payment)
  })

  test('without a retry, the reconciler finds the transfer once the attempt is over', async () => {
    const { payment, crash } = await payAndHold('not retried')
    await crash()
    given.clock.setOffset(2 * ATTEMPT_MS)
    const listed = await given.context.db.read(listDueForLookup('test', given.clock.now(), DUE_MAX))
    const [lost] = listed.filter(({ id }) => id === payment.id)
    assert.ok(lost !== undefined, 'the payment is due for a look-up')
    await reconcilePayment(given.context, { payment: lost })
    assert.deepEqual(describePayment(await getPayment(given.context, payment)), describePayment(payment))
    checkSignedOnce(payment)
  })

  /**
   * Makes a payment while PostgreSQL writes only those commits to the disk that somebody waits for. The returned
   * function lets PostgreSQL crash and start again.
   */
  async function payAndHold(key: string): Promise<{ seeded: Seed; payment: Payment; crash: () => Promise<void> }> {
    const seeded = await seed(given.context)
    const pids = await listWriters()
    assert.equal(pids.length, WRITERS.length)
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    const payment = expectPayment(
      await createPayment(given.context, paymentRequest(seeded, { idempotencyKey: key })),
      'created',
    )
    assert.equal(payment.txHash, given.enclave.accepted.get(referenceId(payment)))
    const crash = async (): Promise<void> => {
      for (const pid of pids) process.kill(pid, 'SIGKILL')
      await waitFor('PostgreSQL has started again', async () => {
        const found = await listWriters().catch(() => [])
        return found.length === WRITERS.length && found.every((pid) => !pids.includes(pid))
      })
      // Each of the shared connections notices on its next use that the crash has ended it.
      await waitFor('every connection is open again', async () => {
        const pings = await Promise.allSettled(Array.from({ length: PINGS }, () => given.context.db.ping()))
        return pings.every(({ status }) => status === 'fulfilled')
      })
      const lost = await getPayment(given.context, payment)
      assert.deepEqual([lost.status, lost.txHash, lost.enclaveTransactionId], ['pending', null, null])
    }
    return { seeded, payment, crash }
  }

  async function listWriters(): Promise<number[]> {
    const text = 'select pid from pg_stat_activity where backend_type = any ($1)'
    return (await readRows(given.context.db, text, [WRITERS])).map((row) => Number(row['pid']))
  }

  function checkSignedOnce(payment: Payment): void {
    const sent = given.enclave.requests.filter((request) => request.referenceId === referenceId(payment))
    assert.equal(sent.length, 1)
  }
})

function describePayment({ id, status, txHash, enclaveTransactionId, amountMicro }: Payment) {
  return { id, status, txHash, enclaveTransactionId, amountMicro }
}
