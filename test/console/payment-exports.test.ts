import assert from 'node:assert/strict'
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError, send } from '../support/http-client.ts'
import { countWaitingFor, holdTable } from '../support/database/hold-table.ts'
import { seedManyPayments } from '../support/context/payment-rows.ts'
import { readRows } from '../support/database/read-rows.ts'
import { seed } from '../support/context/seed.ts'
import { paymentBody } from '../support/service/test-service.ts'
import { waitFor } from '../support/wait-for.ts'
import type { Browser } from './browser.ts'
import { openVisitor } from './person.ts'

/** An export that is much larger than the buffers between the server and a client that does not read. */
const MANY = { count: 20_000, memo: 'm'.repeat(190) }
/** The server must stop within this time. If it did not end the exports itself, it would take far longer. */
const STOP_MS_MAX = 10_000

describe('exports of payments', () => {
  let server: ConsoleServer
  before(async () => {
    server = await openConsoleServer()
  })
  after(() => server.close())

  test('an export is CSV, its name says what it contains, and it can be filtered like the list', async () => {
    const { seeded, browser, path } = await openConsoleFixture()
    for (const memo of ['lunch, "late"', '=1+1']) {
      await send(server.url, { path: '/v1/payments', key: seeded.key, body: paymentBody(seeded, { memo }) })
    }
    const today = server.clock.now().toISOString().slice(0, 10)
    const answer = await browser.call('GET', path)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['content-type'], 'text/csv; charset=utf-8; header=present')
    const name = `${seeded.workspace.slug}-test-payments-until-${today}.csv`
    assert.equal(answer.headers['content-disposition'], `attachment; filename="${name}"`)
    assert.equal(answer.headers['x-content-type-options'], 'nosniff')
    const lines = answer.text.split('\r\n')
    assert.deepEqual([lines.length, lines[3]], [4, ''])
    assert.match(lines[0] ?? '', /^\ufeffid,created_at,confirmed_at,status,/)
    assert.match(lines[1] ?? '', /,'=1\+1,/)
    assert.match(lines[2] ?? '', /,"lunch, ""late""",/)
    const narrowed = await browser.call('GET', `${path}&q=lunch`)
    assert.equal(narrowed.text.split('\r\n').length, 3)
    assert.equal((await browser.call('HEAD', path)).status, 404)
  })

  test('an export of many pages is complete', async () => {
    const { seeded, browser, path } = await openConsoleFixture()
    const ids = await seedManyPayments(server.context, seeded, { count: 1_700, before: server.clock.now() })
    const lines = (await browser.call('GET', path)).text.split('\r\n').slice(1, -1)
    assert.deepEqual(
      lines.map((line) => line.split(',')[0]),
      ids.toReversed(),
    )
  })

  test('a session can run one export; a further one is rejected until it has ended, and those of others run', async () => {
    const desks = await Promise.all(Array.from({ length: 3 }, () => openConsoleFixture()))
    const release = await holdTable(server.context.db, 'payments')
    try {
      const [first, second, third] = desks
      assert.ok(first && second && third)
      const open = [first.browser.call('GET', first.path)]
      await areUnderWay(1)
      await refuse(first)
      open.push(...[second, third].map(({ browser, path }) => browser.call('GET', path)))
      await areUnderWay(3)
      await refuse(first)
      await release()
      for (const { status } of await Promise.all(open)) assert.equal(status, 200)
      for (const { browser, path } of desks) assert.equal((await browser.call('GET', path)).status, 200)
    } finally {
      await release()
    }
  })

  test('an export that is given up makes room for another, at whatever point', async () => {
    const { seeded, browser, path } = await openConsoleFixture()
    const release = await holdTable(server.context.db, 'payments')
    const early = open(server, path, browser)
    await areUnderWay(1)
    await refuse({ browser, path })
    early.destroy()
    await release()
    await isServed({ browser, path })
    await seedManyPayments(server.context, seeded, { ...MANY, before: server.clock.now() })
    const late = open(server, path, browser)
    await late.incoming
    await refuse({ browser, path })
    late.destroy()
    await isServed({ browser, path: `${path}&q=nothing` })
  })

  test('an export that breaks off does not look complete', async () => {
    const { seeded, browser, path } = await openConsoleFixture()
    await seedManyPayments(server.context, seeded, { ...MANY, before: server.clock.now() })
    const incoming = await open(server, path, browser).incoming
    await readRows(server.context.db, 'alter table payments rename to away')
    try {
      await assert.rejects(text(incoming), { code: 'ECONNRESET' })
    } finally {
      await readRows(server.context.db, 'alter table away rename to payments')
    }
    assert.equal(incoming.complete, false)
  })

  test('a stop of the service ends an export whose reader reads no more', async () => {
    const another = await openConsoleServer()
    const { seeded, browser, path } = await openConsoleFixture(another)
    await seedManyPayments(another.context, seeded, { ...MANY, before: another.clock.now() })
    const incoming = await open(another, path, browser).incoming
    const startedAt = performance.now()
    await another.close()
    assert.ok(performance.now() - startedAt < STOP_MS_MAX)
    await assert.rejects(text(incoming), { code: 'ECONNRESET' })
  })

  /** Waits until this many exports are waiting for the locked table of payments. */
  async function areUnderWay(count: number): Promise<void> {
    const { db } = server.context
    await waitFor(`${count} exports`, async () => (await countWaitingFor(db, 'payments')) === count)
  }

  async function openConsoleFixture(of: ConsoleServer = server) {
    const seeded = await seed(of.context)
    const { browser, userId } = await openVisitor(of)
    await addMember(of.context, { workspace: seeded.workspace, userId, role: 'viewer', actor: OPERATOR })
    return { seeded, browser, path: `/console/workspaces/${seeded.workspace.slug}/payments/export?mode=test` }
  }
})

interface Asked {
  readonly browser: Browser
  readonly path: string
}

async function refuse({ browser, path }: Asked): Promise<void> {
  const answer = await browser.call('GET', path)
  expectError(answer, { type: 'rate_limited', code: 'rate_limit_exceeded' })
  assert.equal(answer.headers['retry-after'], '30')
}

async function isServed({ browser, path }: Asked): Promise<void> {
  await waitFor('room', async () => (await browser.call('GET', path)).status === 200)
}

/** Opens an export as a client that reads nothing until the test allows it. */
function open(server: ConsoleServer, path: string, browser: Browser) {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const answered = Promise.withResolvers<IncomingMessage>()
  answered.promise.catch(() => undefined)
  const outgoing = request(
    `${server.url}${path}`,
    { agent: false, headers: { cookie, host: server.host } },
    answered.resolve,
  )
  outgoing.on('error', answered.reject)
  outgoing.end()
  return { incoming: answered.promise, destroy: () => outgoing.destroy() }
}
