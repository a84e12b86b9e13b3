import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError, readBody, send } from '../support/http-client.ts'
import { holdTable } from '../support/database/hold-table.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { paymentBody } from '../support/service/test-service.ts'
import { openVisitor } from './person.ts'

/** The number of concurrent reads. The server can neither run nor queue so many reads at once, so it rejects some. */
const READS = 120

describe('a dashboard that reads much data', () => {
  let server: ConsoleServer
  before(async () => {
    server = await openConsoleServer((config) => ({ ...config, database: { ...config.database, connectionsMax: 2 } }))
  })
  after(() => server.close())

  test('does not delay payments, accepted or rejected; reads above the limit are 503', async () => {
    const [seeded, paying] = [await seed(server.context), await seed(server.context)]
    const { browser, path } = await openConsoleFixture(seeded)
    const holder = server.openAnother()
    const release = await holdTable(holder.db, 'payment_refusals')
    try {
      let served = 0
      const refused = Promise.withResolvers<Awaited<ReturnType<typeof browser.call>>>()
      const reads = Array.from({ length: READS }, async () => {
        const answer = await browser.call('GET', `${path}/refusals?mode=test`)
        if (answer.status === 200) served += 1
        else refused.resolve(answer)
        return answer.status
      })
      const tooMany = await refused.promise
      expectError(tooMany, { type: 'unavailable' })
      assert.match(tooMany.headers['retry-after'] ?? '', /^[1-9][0-9]*$/)
      for (const [changes, status] of [
        [{}, 201],
        [{ amount_usdc: '11' }, 403],
      ] as const) {
        const body = paymentBody(paying, changes)
        readBody(await send(server.url, { path: '/v1/payments', key: paying.key, body }), status)
      }
      assert.equal(served, 0)
      await release()
      for (const status of await Promise.all(reads)) assert.ok(status === 200 || status === 503, String(status))
    } finally {
      await release()
    }
  })

  async function openConsoleFixture({ workspace }: Seed) {
    const { browser, userId } = await openVisitor(server)
    await addMember(server.context, { workspace, userId, role: 'viewer', actor: OPERATOR })
    return { browser, path: `/console/workspaces/${workspace.slug}` }
  }
})
