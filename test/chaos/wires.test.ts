import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { addressesFrom } from '../../sandbox/src/addresses.ts'
import { isProcessAlive } from '../../sandbox/src/lib/process-facts.ts'
import { startPostgres, type Postgres } from '../../sandbox/src/postgres/start-postgres.ts'
import { postgresDir } from '../../sandbox/src/state/data-dir-layout.ts'
import type { JsonAnswer } from '../support/http-client.ts'
import {
  makeKeys,
  createPayer,
  pay,
  readAgent,
  readPayment,
  waitForRecord,
  type PayerFixture,
} from '../support/sandbox/payer-fixture.ts'
import { startTcpProxy, type TcpProxy } from '../support/wires/tcp-proxy.ts'
import { waitFor } from '../support/wait-for.ts'
import { findFreePort } from '../support/free-port.ts'
import { openSandboxFixture, type OwnSandboxFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'

/** The number of keys. Each key may make 30 payment requests a minute, including failed ones. */
const KEYS = 12
const PAYMENTS = 90
const IN_FLIGHT = 9
/** PostgreSQL is killed once the service has acknowledged this many payments. */
const KILL_AFTER = 25

describe('connections that break', () => {
  let fixture: OwnSandboxFixture
  let chainWire: TcpProxy | undefined
  let restarted: Postgres | undefined
  before(async () => {
    fixture = await openSandboxFixture({
      serverEnv: async (port) => {
        chainWire = await startTcpProxy(addressesFrom(port).rpcUrls.test)
        // The first node of the chain never responds, so every call uses the second one.
        return { TEST_RPC_URLS: `http://127.0.0.1:${await findFreePort()},${chainWire.url}` }
      },
    })
  })
  after(async () => {
    try {
      await fixture.close()
      await restarted?.stop()
    } finally {
      // The wire is open even if the sandbox did not start, and would keep this process alive.
      await chainWire?.close()
    }
  })

  test('while the chain is unreachable, a payment is 503 and is not recorded, and later payments succeed', async () => {
    const payer = await createPayer(fixture)
    chainWire?.cut()
    const refused = await pay(fixture, payer)
    assert.deepEqual([refused.status, refused.body.error.type], [503, 'unavailable'], refused.text)
    assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/)
    assert.deepEqual(await listRecords(payer), [])
    chainWire?.restore()
    const { body } = await payUntilAccepted(fixture, payer, { idempotency_key: 'after the cut' })
    await waitForRecord(fixture, body.payment.id, 'confirmed')
  })

  test('while the chain is unreachable, a payment is returned as it was recorded', async () => {
    const payer = await createPayer(fixture)
    await fixture.control('/chains/test', { mining: false })
    const { payment } = (await payUntilAccepted(fixture, payer, { idempotency_key: 'read' })).body
    chainWire?.cut()
    assert.deepEqual(await readPayment(fixture, payer, payment.id), payment)
    chainWire?.restore()
    await fixture.control('/chains/test', { mining: true })
    await waitForRecord(fixture, payment.id, 'confirmed')
  })

  test('while the enclave is unreachable, a payment is 500 privy_call_failed, and a retry with the same key pays once', async () => {
    const payer = await createPayer(fixture)
    fixture.enclave.cut()
    const failed = await pay(fixture, payer, { idempotency_key: 'enclave down' })
    const { error } = failed.body
    assert.deepEqual([failed.status, error.type, error.code], [500, 'internal', 'privy_call_failed'], failed.text)
    assert.equal((await readAgent(fixture, payer)).wallets[0]?.['remaining_24h_usdc'], '99', 'the reservation stands')
    fixture.enclave.restore()
    const retried = await pay(fixture, payer, { idempotency_key: 'enclave down' })
    assert.equal(retried.status, 201, retried.text)
    await waitForRecord(fixture, retried.body.payment.id, 'confirmed')
    assert.equal((await fixture.chains.test.listTransfers(payer.wallet)).length, 1)
  })

  test('after PostgreSQL is killed under load and restarted, no acknowledged payment is lost or made twice', async () => {
    const payer = await createPayer(fixture, { dailyCapUsdc: '1000' })
    const keys = await makeKeys(fixture, payer, KEYS)
    const acknowledged = new Map<string, string>()
    let next = 0
    const work = async (): Promise<void> => {
      for (let index = next++; index < PAYMENTS; index = next++) {
        const idempotencyKey = `load ${index}`
        const order = { key: keys[index % KEYS] ?? payer.key, idempotency_key: idempotencyKey }
        const { body } = await payUntilAccepted(fixture, payer, order)
        acknowledged.set(idempotencyKey, body.payment.id)
      }
    }
    const working = Promise.all(Array.from({ length: IN_FLIGHT }, work))
    // The promise is awaited below. Until then, its rejection must count as handled, in case the test fails earlier.
    working.catch(() => undefined)
    await waitFor('the load runs', () => acknowledged.size >= KILL_AFTER)
    const dataDir = postgresDir(fixture.dataDir)
    const pid = Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0])
    process.kill(pid, 'SIGKILL')
    await waitFor('PostgreSQL is gone', () => !isProcessAlive(pid))
    assert.ok(acknowledged.size < PAYMENTS - IN_FLIGHT, 'the kill came too late to matter')
    const early = new Map(acknowledged)
    restarted = await startPostgres({ dataDir, port: addressesFrom(fixture.port).ports.postgres })
    await working

    assert.equal(acknowledged.size, PAYMENTS)
    const confirmed = async () => (await listRecords(payer)).filter(({ status }) => status === 'confirmed').length
    await waitFor('every payment is confirmed', async () => (await confirmed()) === PAYMENTS)
    const records = await listRecords(payer)
    const kept = new Map(records.map(({ idempotencyKey, id }) => [idempotencyKey, id]))
    for (const [key, id] of early) assert.equal(kept.get(key), id, 'an acknowledged payment was lost')
    const transfers = await fixture.chains.test.listTransfers(payer.wallet)
    assert.deepEqual(transfers.map(({ txHash }) => txHash).sort(), records.map(({ txHash }) => txHash).sort())
    assert.equal(records.length, PAYMENTS)
  })

  async function listRecords({ wallet }: PayerFixture) {
    const rows = await fixture.query(
      'select id, idempotency_key, status, tx_hash from payments where wallet_address = $1',
      [wallet],
    )
    return rows.map((row) => ({
      id: String(row['id']),
      idempotencyKey: String(row['idempotency_key']),
      status: String(row['status']),
      txHash: String(row['tx_hash']),
    }))
  }
})

/** Pays like a careful client: whenever the outcome is unknown, it retries with the same idempotency key. */
async function payUntilAccepted(
  fixture: SandboxFixture,
  payer: PayerFixture,
  order: { key?: string; idempotency_key: string },
): Promise<JsonAnswer> {
  return await waitFor(`payment ${order.idempotency_key} is accepted`, async () => {
    const answer = await pay(fixture, payer, order)
    assert.ok(answer.status === 201 || answer.status >= 500, answer.text)
    return answer.status === 201 && answer
  })
}
