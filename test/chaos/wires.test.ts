import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { addressesFrom } from '../../sandbox/src/addresses.ts'
import { isProcessAlive } from '../../sandbox/src/postgres/process-facts.ts'
import { startPostgres, type Postgres } from '../../sandbox/src/postgres/start-postgres.ts'
import { postgresDir } from '../../sandbox/src/processes/data-dir-layout.ts'
import type { JsonAnswer } from '../support/json-client.ts'
import { makeKeys, makeParty, pay, readAgent, readPayment, waitForRecord, type Party } from '../support/party.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { waitFor } from '../support/wait-for.ts'
import { findFreePort, openWorld, type World } from '../support/world.ts'

/** A key may pay 30 times a minute, failures included. */
const KEYS = 12
const PAYMENTS = 90
const IN_FLIGHT = 9
/** So many payments are acknowledged before PostgreSQL is killed, and so many are still to come. */
const KILL_AFTER = 25

describe('wires that break', () => {
  let world: World
  let chainWire: TcpProxy | undefined
  let restarted: Postgres | undefined
  before(async () => {
    world = await openWorld({
      serverEnv: async (port) => {
        chainWire = await startTcpProxy(addressesFrom(port).rpcUrls.test)
        // The first node is dead from the start: everything here goes by fail-over.
        return { TEST_RPC_URLS: `http://127.0.0.1:${await findFreePort()},${chainWire.url}` }
      },
    })
  })
  after(async () => {
    await world.close()
    await restarted?.stop()
    await chainWire?.close()
  })

  test('the chain out of reach is 503 and records nothing, and payments go on when it is back', async () => {
    const party = await makeParty(world)
    chainWire?.cut()
    const refused = await pay(world, party)
    assert.deepEqual([refused.status, refused.body.error.type], [503, 'unavailable'], refused.text)
    assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/)
    assert.deepEqual(await listRecords(party), [])
    chainWire?.restore()
    const { body } = await payUntilAccepted(world, party, { idempotency_key: 'after the cut' })
    await waitForRecord(world, body.payment.id, 'confirmed')
  })

  test('while the chain is out of reach a payment is read as it was recorded', async () => {
    const party = await makeParty(world)
    await world.control('/chains/test', { mining: false })
    const { payment } = (await payUntilAccepted(world, party, { idempotency_key: 'read' })).body
    chainWire?.cut()
    assert.deepEqual(await readPayment(world, party, payment.id), payment)
    chainWire?.restore()
    await world.control('/chains/test', { mining: true })
    await waitForRecord(world, payment.id, 'confirmed')
  })

  test('the enclave out of reach is 500 privy_call_failed, and a retry with the same key pays once', async () => {
    const party = await makeParty(world)
    world.enclave.cut()
    const failed = await pay(world, party, { idempotency_key: 'enclave down' })
    const { error } = failed.body
    assert.deepEqual([failed.status, error.type, error.code], [500, 'internal', 'privy_call_failed'], failed.text)
    assert.equal((await readAgent(world, party)).wallets[0]?.['remaining_24h_usdc'], '99', 'the reservation stands')
    world.enclave.restore()
    const retried = await pay(world, party, { idempotency_key: 'enclave down' })
    assert.equal(retried.status, 201, retried.text)
    await waitForRecord(world, retried.body.payment.id, 'confirmed')
    assert.equal((await world.chains.test.listTransfers(party.wallet)).length, 1)
  })

  test('PostgreSQL killed under load and started again loses no acknowledged payment and doubles none', async () => {
    const party = await makeParty(world, { dailyCapUsdc: '1000' })
    const keys = await makeKeys(world, party, KEYS)
    const acknowledged = new Map<string, string>()
    let next = 0
    const work = async (): Promise<void> => {
      for (let index = next++; index < PAYMENTS; index = next++) {
        const idempotencyKey = `load ${index}`
        const order = { key: keys[index % KEYS] ?? party.key, idempotency_key: idempotencyKey }
        const { body } = await payUntilAccepted(world, party, order)
        acknowledged.set(idempotencyKey, body.payment.id)
      }
    }
    const working = Promise.all(Array.from({ length: IN_FLIGHT }, work))
    // It is waited for below, unless something else fails first.
    working.catch(() => undefined)
    await waitFor('the load runs', () => acknowledged.size >= KILL_AFTER)
    const dataDir = postgresDir(world.dataDir)
    const pid = Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0])
    process.kill(pid, 'SIGKILL')
    await waitFor('PostgreSQL is gone', () => !isProcessAlive(pid))
    assert.ok(acknowledged.size < PAYMENTS - IN_FLIGHT, 'the kill came too late to matter')
    const early = new Map(acknowledged)
    restarted = await startPostgres({ dataDir, port: addressesFrom(world.port).ports.postgres })
    await working

    assert.equal(acknowledged.size, PAYMENTS)
    const confirmed = async () => (await listRecords(party)).filter(({ status }) => status === 'confirmed').length
    await waitFor('every payment is confirmed', async () => (await confirmed()) === PAYMENTS)
    const records = await listRecords(party)
    const kept = new Map(records.map(({ idempotencyKey, id }) => [idempotencyKey, id]))
    for (const [key, id] of early) assert.equal(kept.get(key), id, 'an acknowledged payment was lost')
    const transfers = await world.chains.test.listTransfers(party.wallet)
    assert.deepEqual(transfers.map(({ txHash }) => txHash).sort(), records.map(({ txHash }) => txHash).sort())
    assert.equal(records.length, PAYMENTS)
  })

  async function listRecords({ wallet }: Party) {
    const rows = await world.query(
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

/** A client that retries as it is told to: with the same key, whenever the service says that it can't say. */
async function payUntilAccepted(
  world: World,
  party: Party,
  order: { key?: string; idempotency_key: string },
): Promise<JsonAnswer> {
  return await waitFor(`payment ${order.idempotency_key} is accepted`, async () => {
    const answer = await pay(world, party, order)
    assert.ok(answer.status === 201 || answer.status >= 500, answer.text)
    return answer.status === 201 && answer
  })
}
