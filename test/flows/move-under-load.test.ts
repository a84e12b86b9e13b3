import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { AddedServer } from '../../sandbox/src/processes/servers.ts'
import { call, type WirePayment } from '../support/http-client.ts'
import { createPayer, makeKeys, pay, type PayerFixture } from '../support/sandbox/payer-fixture.ts'
import { runProgram } from '../support/sandbox/run-program.ts'
import { openSharedSandboxFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'
import { createResource, readCounters, readTakings } from '../support/sandbox/seller.ts'
import { startReceiver, type Receiver } from '../support/wires/receiver.ts'
import { waitFor } from '../support/wait-for.ts'

const PROGRAM = 'server/src/move-workspace/main.ts'
/** The other cell: its name, and the name of its schema and its database user. */
const CELL = 'eu2'
const CLIENTS = 6
/** How many payments each client makes before the move. */
const EARLIER = 2
/** How many failed payments the workspace has besides, each with an event, so that the rows are sent in many batches. */
const FAILED = 5_000
/** Inserts `$2` failed payments, copied from one of the workspace `$1`, and an event for each. */
const ADD_FAILED = [
  `insert into public.payments select r.* from (select p from public.payments p where workspace_id = $1 limit 1) s,
    generate_series(1, $2::int4) n, jsonb_populate_record(null::public.payments, to_jsonb(s.p) || jsonb_build_object(
      'id', 'pay_' || lpad(n::text, 26, '0'), 'idempotency_key', 'earlier ' || n, 'status', 'failed',
      'failure_code', 'enclave_refused', 'settled_at', (s.p).created_at, 'attempt_until', null, 'tx_hash', null,
      'mined_block', null, 'mined_block_hash', null, 'log_index', null, 'user_operation_hash', null,
      'enclave_transaction_id', null, 'sender_nonce', null)) r`,
  `insert into public.events (workspace_id, id, mode, type, created_at, data, data_text)
    select $1, 'evt_' || lpad(n::text, 26, '0'), 'test', 'inbound.received', now(), '{}', '{}'
    from generate_series(1, $2::int4) n`,
]
const PRICE_USDC = '0.01'
const PRICE_MICRO = 10_000n

/** Two cells in one database, each with a server process; they share the enclave and the chains (D95). */
describe('a workspace that moves while it is used', () => {
  let fixture: SandboxFixture
  let other: AddedServer
  let receiver: Receiver
  let payer: PayerFixture
  let neighbor: PayerFixture
  let keys: readonly string[]
  const seen = { refused: 0, moved: 0 }
  before(async () => {
    fixture = await openSharedSandboxFixture()
    receiver = await startReceiver()
    for (const statement of [
      `create role ${CELL} login password 'secret'`,
      `create schema ${CELL} authorization ${CELL}`,
      `alter role ${CELL} set search_path = ${CELL}`,
    ]) {
      await fixture.query(statement)
    }
    // The sandbox's file contains the checkpoint of the other log.
    const env = { DATABASE_URL: otherUrl(), CELL, LOG_CHECKPOINT_FILE: '' }
    other = await fixture.sandbox.addServer({ port: 0, env })
    payer = await createPayer(fixture, { dailyCapUsdc: '1000', grant: { x402: true } })
    neighbor = await createPayer(fixture)
    keys = await makeKeys(fixture, payer, CLIENTS)
    await fixture.control(`/workspaces/${payer.slug}/webhooks`, { mode: 'test', url: receiver.url })
  })
  after(async () => {
    await other.stop()
    await receiver.close()
  })

  test('nothing is lost and nothing is paid twice; its ids and keys work in the other cell, and the old one names it', async () => {
    // The receiver takes nothing yet, so all deliveries are pending when the workspace moves.
    receiver.reply(500)
    const paid: WirePayment[] = []
    const bases = keys.map(() => fixture.baseUrl)
    const payAsClient = async (index: number) => paid.push(await payThrough(bases, index))
    for (let round = 0; round < EARLIER; round += 1) await Promise.all(keys.map((_, index) => payAsClient(index)))

    const [workspace] = await fixture.query('select id from workspaces where slug = $1', [payer.slug])
    for (const statement of ADD_FAILED) await fixture.query(statement, [workspace?.['id'], FAILED])

    const unpaid = await createResource(fixture, { price_usdc: PRICE_USDC, faults: ['handler_fails'] })
    const pending = await buy(unpaid.url, fixture.baseUrl)
    assert.equal(pending.delivery, 'failed')
    const slow = await createResource(fixture, { price_usdc: PRICE_USDC, delay_ms: 2_000 })
    const buying = buy(slow.url, fixture.baseUrl)
    await waitFor('the seller has the payment header', async () => {
      return (await readCounters(fixture, slow)).paid_requests === 1
    })
    const hold = fixture.enclave.hold('answer')
    const order = { idempotency_key: randomUUID() }
    const sending = pay(fixture, payer, order)
    await hold.held

    const env = { DATABASE_URL: fixture.databaseUrl, TO_DATABASE_URL: otherUrl() }
    const moving = runProgram(PROGRAM, { args: [payer.slug, '--cell', CELL], env })
    const mark = 'select id from workspaces where slug = $1 and moving_since is not null'
    const [{ id: workspaceId }] = await waitFor('the mark', async () => {
      const rows = await fixture.query(mark, [payer.slug])
      return rows[0] !== undefined && ([rows[0]] as const)
    })
    const reserved = await countPayments('public', workspaceId)
    const clients = Promise.all(keys.map((_, index) => payAsClient(index)))
    await waitFor('every client is refused', () => seen.refused >= CLIENTS)
    assert.equal(await countPayments('public', workspaceId), reserved, 'a request that is refused reserves nothing')
    assert.equal((await pay(fixture, neighbor)).status, 201, 'the neighbor pays')
    await hold.release()
    // If everything is slow, the old cell has stopped waiting for the enclave. A repetition in the new cell then finds the
    // payment.
    const { status, text } = await sending
    assert.ok(status === 201 || text.includes('"privy_call_failed"'), text)
    assert.equal((await buying).delivery, 'delivered')

    const { exitCode, output } = await moving
    assert.equal(exitCode, 0, output)
    receiver.reply(200)
    const sent = await pay(fixture, payer, { ...order, baseUrl: other.baseUrl })
    assert.equal(sent.status, 201, sent.text)
    paid.push(sent.body.payment)
    await clients
    await Promise.all(keys.map((_, index) => payAsClient(index)))
    assert.equal(seen.moved, CLIENTS, 'each client is sent to the other cell once')

    // Every payment is in the other cell and on the chain, exactly once.
    assert.equal(new Set(paid.map(({ id }) => id)).size, CLIENTS * (EARLIER + 2) + 1)
    await waitFor('every payment but one is confirmed', async () => {
      const rows = await fixture.query(
        `select id from ${CELL}.payments where workspace_id = $1 and status = 'pending'`,
        [workspaceId],
      )
      return rows.length === 1 && rows[0]?.['id'] === pending.payment.id
    })
    const stored = await fixture.query(
      `select id, tx_hash from ${CELL}.payments where workspace_id = $1 and status = 'confirmed'`,
      [workspaceId],
    )
    assert.equal(stored.length, paid.length + 1)
    const failed = `select 1 from ${CELL}.payments where workspace_id = $1 and status = 'failed'`
    assert.equal((await fixture.query(failed, [workspaceId])).length, FAILED)
    const known = new Set(stored.map(({ id }) => id))
    assert.ok(paid.every(({ id }) => known.has(id)))
    const transfers = await fixture.chains.test.listTransfers(payer.wallet)
    assert.deepEqual(
      transfers.map(({ txHash }) => txHash).toSorted(),
      stored.map((row) => String(row['tx_hash'])).toSorted(),
    )
    assert.deepEqual([await readTakings(fixture, slow), await readTakings(fixture, unpaid)], [PRICE_MICRO, 0n])

    // Requests that are repeated in the other cell pay nothing more, and its keys and ids are the same.
    const again = await pay(fixture, payer, { ...order, baseUrl: other.baseUrl })
    assert.deepEqual([again.body.payment.id, again.headers['idempotent-replayed']], [sent.body.payment.id, 'true'])
    assert.equal((await buy(slow.url, other.baseUrl)).delivery, 'delivered')
    assert.equal((await readCounters(fixture, slow)).authorizations, 1)
    assert.equal((await buy(unpaid.url, other.baseUrl)).payment.id, pending.payment.id)
    for (const { id } of paid.slice(0, CLIENTS)) {
      const read = await call(other.baseUrl, 'GET', `/v1/payments/${id}`, { key: payer.key })
      assert.equal(read.body.payment.status, 'confirmed', read.text)
    }

    // Every event is delivered. The pending deliveries need not wait for their next attempt.
    await fixture.query(
      `update ${CELL}.deliveries set next_attempt_at = now() where workspace_id = $1 and status = 'pending'`,
      [workspaceId],
    )
    await waitFor('every delivery', async () => {
      const open = `select 1 from ${CELL}.deliveries where workspace_id = $1 and status <> 'succeeded'`
      return (await fixture.query(open, [workspaceId])).length === 0
    })
    const events = await fixture.query(`select id, type, data from ${CELL}.events where workspace_id = $1`, [
      workspaceId,
    ])
    for (const { id } of paid) {
      const ofPayment = events.filter(({ data }) => data.payment?.id === id).map(({ type }) => String(type))
      assert.deepEqual(ofPayment.toSorted(), ['payment.confirmed', 'payment.created'])
    }
    const received = new Set(receiver.received.map(({ eventId }) => eventId))
    const delivered = events.filter(({ type }) => String(type).startsWith('payment.'))
    assert.deepEqual(
      delivered.filter(({ id }) => !received.has(String(id))),
      [],
    )

    // The old cell has nothing of it any more, and says where it is.
    assert.equal(await countPayments('public', workspaceId), 0)
    const old = await call(fixture.baseUrl, 'GET', '/v1/me', { key: payer.key })
    assert.deepEqual([old.status, old.body.error.code, old.headers['bursar-cell']], [421, 'workspace_moved', CELL])
    assert.equal((await pay(fixture, neighbor)).status, 201)
  })

  /** Pays as a client that waits as long as a 503 says, and goes to the cell that a 421 names. */
  async function payThrough(bases: string[], index: number): Promise<WirePayment> {
    const [order, key] = [{ idempotency_key: randomUUID() }, keys[index] ?? payer.key]
    for (;;) {
      const answer = await pay(fixture, payer, { ...order, key, baseUrl: bases[index] ?? fixture.baseUrl })
      if (answer.status === 201) return answer.body.payment
      const { code } = answer.body.error
      if (code === 'workspace_moved') {
        assert.equal(answer.headers['bursar-cell'], CELL)
        bases[index] = other.baseUrl
        seen.moved += 1
      } else {
        assert.equal(answer.status, 503, answer.text)
        if (code === 'workspace_moving') seen.refused += 1
        await delay(Number(answer.headers['retry-after']) * 1_000)
      }
    }
  }

  async function buy(url: string, baseUrl: string) {
    const { key, agentId, wallet } = payer
    const terms = { agent_id: agentId, wallet, max_amount_usdc: PRICE_USDC, idempotency_key: url.slice(-40) }
    const { text } = await call(baseUrl, 'POST', '/v1/x402/pay', { key, body: { url, ...terms } })
    return JSON.parse(text) as { payment: WirePayment; delivery: string }
  }

  async function countPayments(schema: string, workspaceId: string): Promise<number> {
    return (await fixture.query(`select 1 from ${schema}.payments where workspace_id = $1`, [workspaceId])).length
  }

  function otherUrl(): string {
    const url = new URL(fixture.databaseUrl)
    url.username = CELL
    url.password = 'secret'
    return url.href
  }
})
