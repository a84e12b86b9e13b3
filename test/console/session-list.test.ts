import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { SessionEntry } from '../../server/src/console/contract/sessions.ts'
import { createWorkspace } from '../../server/src/domain/members/create-workspace.ts'
import { SESSION_IDLE_MS } from '../../server/src/domain/sessions/session.ts'
import { readAudit } from '../support/context/audit.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError } from '../support/http-client.ts'
import { DEVICE, signInPerson } from '../support/context/people.ts'
import { readRows } from '../support/database/read-rows.ts'
import { Browser } from './browser.ts'
import { openVisitor, readSession, type Visitor } from './person.ts'

const NONE = { type: 'not_found', code: 'session_not_found' } as const

describe("the list of a person's sessions", () => {
  let server: ConsoleServer
  let visitor: Visitor
  let elsewhere: Browser
  before(async () => {
    server = await openConsoleServer()
  })
  beforeEach(async () => {
    visitor = await openVisitor(server)
    elsewhere = await signInElsewhere(visitor)
  })
  after(() => server.close())

  test('each browser is listed, the current one is marked, and no secret or hash is shown', async () => {
    await openVisitor(server, 'Somebody else')
    const text = (await visitor.browser.call('GET', '/console/sessions')).text
    const { sessions } = JSON.parse(text) as { sessions: SessionEntry[] }
    assert.equal(sessions.length, 2)
    for (const session of sessions) {
      assert.match(session.id, /^[0-9a-f]{32}$/)
      assert.equal(session.device, DEVICE)
      assert.ok(session.created_at <= session.last_seen_at && session.last_seen_at < session.expires_at)
    }
    assert.equal(sessions.filter(({ current }) => current).length, 1)
    const there = await list(elsewhere)
    assert.deepEqual(ids(there), ids(sessions))
    assert.notEqual(there.find(({ current }) => current)?.id, sessions.find(({ current }) => current)?.id)
    const sql = `select encode(secret_hash, 'hex') as hash from sessions`
    for (const { hash } of await readRows(server.context.db, sql)) {
      for (const { id } of sessions) assert.ok(!String(hash).includes(id))
    }
    for (const browser of [visitor.browser, elsewhere])
      assert.ok(!text.includes(String(browser.cookies.get('session'))))
  })

  test('another browser is signed out, and the audit log says so', async () => {
    await createWorkspace(server.context, { userId: visitor.userId, name: 'Acme' })
    const other = (await list()).find(({ current }) => !current)
    assert.deepEqual(await visitor.browser.ask('DELETE', `/console/sessions/${other?.id}`), {})
    assert.equal(await readSession(elsewhere), null)
    assert.notEqual(await readSession(visitor.browser), null)
    assert.deepEqual(
      (await list()).map(({ current }) => current),
      [true],
    )
    const rows = await readAudit(server.context.db, visitor.userId)
    assert.deepEqual(rows.at(-1), {
      ...{ actor_kind: 'user', actor_id: visitor.userId, action: 'user.signed_out', subject: null },
      details: { device: DEVICE },
    })
    await visitor.browser.refuse('DELETE', `/console/sessions/${other?.id}`, NONE)
  })

  test('of five requests to sign out one browser at once, one succeeds', async () => {
    const other = (await list()).find(({ current }) => !current)
    const path = `/console/sessions/${other?.id}`
    const answers = await Promise.all(Array.from({ length: 5 }, () => visitor.browser.call('DELETE', path)))
    const refused = answers.filter(({ status }) => status !== 200)
    assert.equal(refused.length, 4)
    for (const refusal of refused) expectError(refusal, NONE)
    assert.equal(await readSession(elsewhere), null)
  })

  test('the current browser can be signed out too, and its cookie is deleted', async () => {
    const own = (await list()).find(({ current }) => current)
    assert.deepEqual(await visitor.browser.ask('DELETE', `/console/sessions/${own?.id}`), {})
    assert.equal(visitor.browser.cookies.has('session'), false)
    assert.equal((await list(elsewhere)).length, 1)
    await visitor.browser.refuse('GET', '/console/sessions', { type: 'unauthenticated' })
  })

  test('a session of another person, and an unknown id, are not found', async () => {
    const other = await openVisitor(server)
    const [theirs] = await list(other.browser)
    for (const id of [theirs?.id, 'x', '0'.repeat(32), '%00']) {
      await visitor.browser.refuse('DELETE', `/console/sessions/${id}`, NONE)
    }
    assert.notEqual(await readSession(other.browser), null)
  })

  test('a session that has ended is not listed, and cannot be ended again', async () => {
    const other = (await list()).find(({ current }) => !current)
    server.clock.setOffset(SESSION_IDLE_MS - 60_000)
    assert.equal((await list()).length, 2, 'the one that asks is seen meanwhile')
    server.clock.setOffset(SESSION_IDLE_MS + 60_000)
    assert.equal((await list()).length, 1)
    await visitor.browser.refuse('DELETE', `/console/sessions/${other?.id}`, NONE)
  })

  async function list(browser = visitor.browser): Promise<readonly SessionEntry[]> {
    return (await browser.ask<{ sessions: SessionEntry[] }>('GET', '/console/sessions')).sessions
  }

  async function signInElsewhere(person: Visitor): Promise<Browser> {
    const { secret } = await signInPerson(server.context, person)
    const browser = new Browser(server)
    browser.cookies.set('session', secret)
    return browser
  }
})

function ids(sessions: readonly SessionEntry[]): string[] {
  return sessions.map(({ id }) => id).toSorted()
}
