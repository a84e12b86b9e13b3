import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { RECIPIENT, seed } from '../support/context/seed.ts'
import { callTool, PROTOCOL_VERSIONS, toolRequest } from '../support/service/mcp-client.ts'
import { openTestService, withJobs } from '../support/service/test-service.ts'
import { readRows } from '../support/database/read-rows.ts'
import { waitFor } from '../support/wait-for.ts'

/** How long the server may take to stop. The calls would wait far longer. */
const STOP_MS_MAX = 10_000

test('a client that leaves does not delay a stop, and a stop ends the calls that wait, in both protocol versions (D72)', async () => {
  const given = await openTestService(withJobs)
  try {
    const seeded = await seed(given.context)
    const args = { agent_id: seeded.agentId, to: RECIPIENT, amount_usdc: '1', purchase_id: 'one' }
    const paid = await callTool(given, seeded.key, 'send_payment', args)
    const waiting = { payment_id: (paid['payment'] as { id: string }).id, wait_seconds: 45 }
    const before = await countRequests()
    const answers = PROTOCOL_VERSIONS.map((version) => callTool(given, seeded.key, 'get_payment', waiting, version))
    const { path, headers, body } = toolRequest(seeded.key, 'get_payment', waiting)
    const leaving = request(given.url + path, { method: 'POST', headers })
    leaving.on('error', () => undefined).end(body)
    await waitFor('three calls', async () => (await countRequests()) === before + PROTOCOL_VERSIONS.length + 1)
    leaving.destroy()
    const startedAt = performance.now()
    await given.service.stop()
    assert.ok(performance.now() - startedAt < STOP_MS_MAX)
    for (const answer of await Promise.all(answers)) {
      assert.equal((answer['payment'] as { status: string }).status, 'pending')
    }
  } finally {
    await given.close()
  }

  /** Counts the requests that the rate limiter has let in. A call starts to wait shortly after it was let in. */
  async function countRequests(): Promise<number> {
    const [row] = await readRows(given.context.db, 'select sum(cardinality(hits)) as requests from rate_windows')
    return Number(row?.['requests'] ?? 0)
  }
})
