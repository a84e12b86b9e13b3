import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { test } from 'node:test'
import { readBody } from '../support/http-client.ts'
import { seed } from '../support/context/seed.ts'
import { openTestService, paymentBody, withJobs, type TestService } from '../support/service/test-service.ts'
import { readRows } from '../support/database/read-rows.ts'
import { waitFor } from '../support/wait-for.ts'

/**
 * The time limit of a stop. It is far below the time for which an idle connection stays open (65 s), and longer than
 * one round of background work.
 */
const STOP_MS_MAX = 10_000

test('a stop finishes the current payment, accepts no new connection, and ends although clients keep their connections open', async () => {
  const given = await openTestService(withJobs)
  const seeded = await seed(given.context)
  const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  given.enclave.behave = () => {
    arrived.resolve()
    return 'sign when released'
  }
  given.enclave.released = released.promise
  const agent = new Agent({ keepAlive: true })
  try {
    const payment = postKeepingAlive(given.url, agent, { key: seeded.key, body: JSON.stringify(paymentBody(seeded)) })
    await arrived.promise
    const startedAt = performance.now()
    const stopped = given.service.stop()
    await refusesConnections(given)
    released.resolve()
    const answer = await payment
    assert.equal(readBody<{ payment: { status: string } }>(answer, 201).payment.status, 'pending')
    await stopped
    assert.ok(performance.now() - startedAt < STOP_MS_MAX)
    const [row] = await readRows(given.context.db, 'select status, tx_hash from payments')
    assert.equal(row?.['status'], 'pending')
    assert.match(String(row['tx_hash']), /^0x/)
    assert.deepEqual(await readRows(given.context.db, 'select name from leases'), [])
  } finally {
    released.resolve()
    agent.destroy()
    await given.close()
  }
})

test('a process that stops first says so, and serves on without keeping connections; a second stop ends the delay', async () => {
  const given = await openTestService((config) => ({ ...config, stopDelayMs: 600_000 }))
  const agent = new Agent({ keepAlive: true })
  try {
    const seeded = await seed(given.context)
    const ask = async (path: string, body?: unknown) => {
      const answer = await given.call({ path, body, key: seeded.key, agent })
      return [answer.status, answer.headers['connection']]
    }
    assert.deepEqual(await ask('/readyz'), [200, 'keep-alive'])
    const stopped = given.service.stop()
    const ready = await given.call({ path: '/readyz' })
    assert.equal(readBody<{ status: string }>(ready, 503).status, 'stopping')
    assert.deepEqual(await ask('/healthz'), [200, 'close'])
    assert.deepEqual(await ask('/v1/payments', paymentBody(seeded)), [201, 'close'])
    void given.service.stop()
    await stopped
    await refusesConnections(given)
  } finally {
    agent.destroy()
    await given.close()
  }
})

async function refusesConnections(given: TestService): Promise<void> {
  await waitFor('connections to be refused', async () => {
    const outcome = await given.call({ path: '/healthz' }).catch((error: NodeJS.ErrnoException) => error)
    if (!(outcome instanceof Error)) return false
    if (outcome.code === 'ECONNREFUSED') return true
    // The server may accept a connection just before it stops listening. If no request has arrived on this connection
    // yet, the server closes it, and the call fails with ECONNRESET.
    assert.equal(outcome.code, 'ECONNRESET')
    return false
  })
}

async function postKeepingAlive(url: string, agent: Agent, { key, body }: { key: string; body: string }) {
  return await new Promise<Parameters<typeof readBody>[0]>((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const outgoing = request(`${url}/v1/payments`, { agent, method: 'POST', headers }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
