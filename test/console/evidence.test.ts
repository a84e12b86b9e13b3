import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import { openEvidence } from '../support/context/evidence-file.ts'
import { logAll } from '../support/context/log-leaves.ts'
import { seedPayment } from '../support/context/payment-rows.ts'
import { seed } from '../support/context/seed.ts'
import { readRows } from '../support/database/read-rows.ts'
import { expectError } from '../support/http-client.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { openVisitor } from './person.ts'

/** More than the service proves at once. */
const MANY = 250

/** Who gets evidence on the dashboard, and in which form. `test/evidence` verifies what it says. */
describe('evidence on the dashboard', () => {
  let server: ConsoleServer
  before(async () => {
    server = await openConsoleServer()
  })
  after(() => server.close())

  test('a viewer downloads the file of a payment, of a withdrawal too, and a stranger does not', async () => {
    const { seeded, browser, path } = await openFixture()
    const payments = [
      await seedPayment(server.context, seeded, { status: 'confirmed' }),
      await seedPayment(server.context, seeded, { status: 'failed', kind: 'withdrawal' }),
    ]
    await logAll(server.context)
    const stranger = await openFixture()
    for (const { id } of payments) {
      const answer = await browser.call('GET', `${path}/${id}/evidence?mode=test`)
      assert.equal(answer.status, 200, answer.text)
      const own = openEvidence(answer.text).logs[0]?.leaves.filter(({ content }) => content.includes(id))
      assert.equal(own?.length, 2)
      assert.equal(answer.headers['content-disposition'], `attachment; filename="evidence-${id}.json"`)
      assert.equal(answer.headers['cache-control'], 'no-store')
      const refused = await stranger.browser.call('GET', `${path}/${id}/evidence?mode=test`)
      assert.equal(refused.status, 404)
      expectError(await stranger.browser.call('GET', `${stranger.path}/${id}/evidence?mode=test`), {
        type: 'not_found',
      })
      expectError(await browser.call('GET', `${path}/${id}/evidence?mode=live`), { type: 'not_found' })
    }
    expectError(await stranger.browser.call('GET', `${path}/evidence?mode=test`), { type: 'not_found' })
  })

  test('a file that is not ready is an error that says when to ask again', async () => {
    const { seeded, browser, path } = await openFixture()
    const { id } = await seedPayment(server.context, seeded)
    await logAll(server.context)
    const answer = await browser.call('GET', `${path}/${id}/evidence?mode=test`)
    const { details } = expectError(answer, { type: 'conflict', code: 'evidence_not_ready' })
    assert.deepEqual(details, { reason: 'payment_pending', retry_at: null })
    assert.equal(answer.headers['retry-after'], '5')
  })

  test('an export has a line for each payment, says how many it leaves out, and can be filtered', async () => {
    const { seeded, browser, path } = await openFixture()
    const ids: string[] = []
    const now = server.clock.now().getTime()
    for (let count = 0; count < MANY; count += 1) {
      const at = new Date(now - (MANY - count) * 10)
      ids.push((await seedPayment(server.context, seeded, { status: 'confirmed', at })).id)
    }
    await seedPayment(server.context, seeded)
    await logAll(server.context)
    const answer = await browser.call('GET', `${path}/evidence?mode=test`)
    assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'application/x-ndjson'])
    const today = server.clock.now().toISOString().slice(0, 10)
    const name = `${seeded.workspace.slug}-test-evidence-until-${today}.ndjson`
    assert.equal(answer.headers['content-disposition'], `attachment; filename="${name}"`)
    assert.ok(answer.text.endsWith('\n'))
    const lines = answer.text.trimEnd().split('\n').map(parseLine)
    const [head, shared, ...others] = lines
    const end = others.pop()
    assert.equal(head?.['format'], 'bursar-evidence-list/1')
    assert.equal(end?.['left_out'], 1)
    assert.deepEqual(others.map(subjectOf), ids.toReversed())
    const authorities = new Set([shared, ...others].map((line) => line?.['authority']))
    assert.equal(authorities.size, 1)
    const none = (await browser.call('GET', `${path}/evidence?mode=test&status=failed`)).text.trimEnd().split('\n')
    assert.equal(none.length, 2)
    assert.equal((await browser.call('HEAD', `${path}/evidence?mode=test`)).status, 404)
  })

  test('an export that breaks off does not look whole', async () => {
    const { seeded, browser, path } = await openFixture()
    await seedPayment(server.context, seeded, { status: 'confirmed' })
    await logAll(server.context)
    await readRows(server.context.db, 'alter table log_tiles rename to away')
    try {
      await assert.rejects(browser.call('GET', `${path}/evidence?mode=test`))
    } finally {
      await readRows(server.context.db, 'alter table away rename to log_tiles')
    }
  })

  async function openFixture() {
    const seeded = await seed(server.context)
    const { browser, userId } = await openVisitor(server)
    await addMember(server.context, { workspace: seeded.workspace, userId, role: 'viewer', actor: OPERATOR })
    return { seeded, browser, path: `/console/workspaces/${seeded.workspace.slug}/payments` }
  }
})

type Line = Readonly<Record<string, unknown>>

function parseLine(text: string): Line {
  return JSON.parse(text) as Line
}

function subjectOf(line: Line): string {
  const [leaf] = line['leaves'] as { content: string }[]
  return (JSON.parse(leaf?.content ?? '{}') as { subject: string }).subject
}
