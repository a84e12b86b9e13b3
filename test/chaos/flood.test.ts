import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { send, type Answer, type AnswerBody } from '../support/http-client.ts'
import { listChainTransfers } from '../support/faults/chain-transfers.ts'
import { openFaultFixture, type FaultFixture } from '../support/faults/fault-fixture.ts'
import { prepareSandbox } from '../support/sandbox/prepared-sandbox.ts'
import { waitFor } from '../support/wait-for.ts'
import { RECIPIENT } from '../support/context/seed.ts'

const CONNECTIONS = 400
const REQUESTS_EACH = 3
/**
 * One key may make 30 payments a minute. With more keys, more payments would run at the same time, and on a busy
 * machine the enclave could take longer than its time limit.
 */
const KEYS = 1
const AMOUNT_MICRO = 10_000n
const AMOUNT_USDC = '0.01'
const SETTLED_MS_MAX = 120_000

describe('a flood of payments', () => {
  let fixture: FaultFixture
  before(async () => {
    const sandbox = { prepared: await prepareSandbox(), memory: 'large' } as const
    fixture = await openFaultFixture({ wallets: 4, agentsPerWallet: 1, keys: KEYS, capMicro: 1_000_000_000n, sandbox })
  })
  after(async () => {
    await fixture.sandbox.stop()
    await fixture.sandbox.remove()
  })

  test('every request is paid or turned away, nothing fails, and the money is right to the cent', async () => {
    const release = await holdGrants()
    const answers: Answer[] = []
    const flood = Promise.all(Array.from({ length: CONNECTIONS }, (_, connection) => payInTurn(connection, answers)))
    // Before `release` is called, every request waits, so the service must reject some requests in the end.
    await waitFor('a rejection', () => answers.some(({ status }) => status === 503))
    await release()
    await flood
    const counts = Map.groupBy(answers, ({ status }) => status)
    const count = (status: number) => counts.get(status)?.length ?? 0
    const summary = [...counts].map(([status, { length }]) => `${length} x ${status}`).join(', ')
    assert.equal(count(201) + count(429) + count(503), answers.length, summary)
    assert.ok(count(201) > 0 && count(503) > 0, summary)
    for (const { status, headers } of answers) {
      if (status !== 201) assert.match(headers['retry-after'] ?? '', /^[1-9][0-9]*$/)
    }
    await waitFor('the end of all payments', async () => (await countPending()) === 0, SETTLED_MS_MAX)

    const acknowledged = (counts.get(201) ?? []).map(({ text }) => (JSON.parse(text) as AnswerBody).payment.id)
    const rows = await fixture.database.query('select id, status from payments')
    assert.deepEqual(rows.map(({ id }) => String(id)).toSorted(), acknowledged.toSorted())
    assert.ok(rows.every(({ status }) => status === 'confirmed'))
    const transfers = await listChainTransfers(fixture)
    assert.equal(transfers.length, acknowledged.length)
    assert.ok(transfers.every(({ amountMicro }) => amountMicro === AMOUNT_MICRO))
    const after = await payOnce(0)
    assert.ok([201, 429].includes(after.status), after.text)
  })

  async function payInTurn(connection: number, answers: Answer[]): Promise<void> {
    for (let turn = 0; turn < REQUESTS_EACH; turn += 1) answers.push(await payOnce(connection))
  }

  /** Locks the table of grants, so that every reservation waits until the returned function is called. */
  async function holdGrants(): Promise<() => Promise<void>> {
    const client = new pg.Client({ connectionString: fixture.database.url })
    await client.connect()
    await client.query('begin')
    await client.query('lock table grants in access exclusive mode')
    return () => client.end()
  }

  async function payOnce(connection: number): Promise<Answer> {
    const { payers, sandbox } = fixture
    const payer = payers[connection % payers.length]
    assert.ok(payer !== undefined)
    const { agentId, wallet } = payer
    const body = { agent_id: agentId, wallet, to: RECIPIENT, amount_usdc: AMOUNT_USDC, idempotency_key: randomUUID() }
    return await send(sandbox.facts.base_url, { path: '/v1/payments', key: fixture.takeKey(), body })
  }

  async function countPending(): Promise<number> {
    const [row] = await fixture.database.query(
      `select count(*)::integer as pending from payments where status = 'pending'`,
    )
    return Number(row?.['pending'])
  }
})
