import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { readConfig } from '../../server/src/config.ts'
import { createEmptyWorkspace } from '../../server/src/domain/workspaces/create-empty-workspace.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { EVENT_TYPES } from '../../server/src/domain/events/event.ts'
import { appendEvent } from '../../server/src/domain/webhooks/append-event.ts'
import { createEndpoint } from '../../server/src/domain/webhooks/create-endpoint.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { createLogger } from '../../server/src/lib/logger.ts'
import { openContext } from '../../server/src/service.ts'
import { createId } from '../../server/src/values/ids.ts'
import { waitFor } from '../support/wait-for.ts'
import { openSandboxFixture, type OwnSandboxFixture } from '../support/sandbox/sandbox-fixture.ts'

const EVENTS = 500
const ENDPOINTS = 4
const DELIVERIES = EVENTS * ENDPOINTS
/** Both workers are killed each time that the number of arrived deliveries reaches one of these numbers. */
const KILLS_AT = [300, 800, 1_300] as const
/**
 * The maximum number of concurrent attempts to one endpoint. A killed worker may have sent that many without recording
 * them.
 */
const ENDPOINT_IN_FLIGHT_MAX = 4
const LEASES_SECONDS = 31
const ALL_MS_MAX = 120_000

describe('webhooks whose workers are killed', () => {
  let fixture: OwnSandboxFixture
  const counts = new Map<string, number>()
  const receiver = createServer((request, response) => {
    const key = `${request.url} ${String(request.headers['service-event-id'])}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
    request.resume()
    response.writeHead(204).end()
  })
  before(async () => {
    fixture = await openSandboxFixture()
    await new Promise<void>((resolve) => {
      receiver.listen(0, '127.0.0.1', resolve)
    })
  })
  after(async () => {
    receiver.closeAllConnections()
    receiver.close()
    await fixture.close()
  })

  test('after three kills of two workers, no delivery of 2,000 is lost, and only those in progress arrive twice', async () => {
    await announceAll()
    let second = await fixture.sandbox.addServer({ port: 0, env: { ROLE: 'worker' } })
    for (const count of KILLS_AT) {
      await waitFor(`${count} deliveries`, async () => counts.size >= count, ALL_MS_MAX)
      await Promise.all([fixture.sandbox.killServer('SIGKILL'), second.kill('SIGKILL')])
      await fixture.sandbox.startServer()
      second = await fixture.sandbox.addServer({ port: 0, env: { ROLE: 'worker' } })
      await fixture.advanceClock(LEASES_SECONDS)
    }
    await waitFor('every delivery', async () => counts.size === DELIVERIES, ALL_MS_MAX)
    const open = "select 1 from deliveries where status = 'pending' limit 1"
    await waitFor('every outcome is written', async () => (await fixture.query(open)).length === 0, ALL_MS_MAX)
    const posts = [...counts.values()].reduce((sum, count) => sum + count, 0)
    const twice = posts - DELIVERIES
    assert.ok(twice <= KILLS_AT.length * ENDPOINTS * ENDPOINT_IN_FLIGHT_MAX, `${twice} came twice`)
    const [{ succeeded } = {}] = await fixture.query(
      "select count(*) as succeeded from deliveries where status = 'succeeded'",
    )
    assert.equal(Number(succeeded), DELIVERIES)
  })

  /** Creates events in the same way as the service: each one in a transaction together with its deliveries. */
  async function announceAll(): Promise<void> {
    const clock = createClock()
    const opened = openContext(readConfig(fixture.environment()), { clock, logger: createLogger('silent') })
    const { context } = opened
    const { id: workspaceId } = await createEmptyWorkspace(context, { name: 'Killed', plan: 'scale', actor: OPERATOR })
    const { port } = receiver.address() as AddressInfo
    for (let index = 0; index < ENDPOINTS; index += 1) {
      const url = `http://127.0.0.1:${port}/${index}`
      await createEndpoint(context, { workspaceId, mode: 'test', url, events: EVENT_TYPES, actor: OPERATOR })
    }
    const createdAt = clock.now()
    for (let made = 0; made < EVENTS; made += 1) {
      await context.db.transaction((transaction) =>
        transaction.commit([
          ...appendEvent({
            id: createId('event', createdAt),
            workspaceId,
            mode: 'test',
            type: 'payment.created',
            createdAt,
            data: { payment: { id: `pay_${made}` } },
          }),
        ]),
      )
    }
    await opened.close()
  }
})
