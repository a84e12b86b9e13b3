import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { SavedView } from '../../server/src/console/contract/views.ts'
import { SAVED_VIEWS_MAX } from '../../server/src/domain/saved-views/saved-view.ts'
import { readAudit } from '../support/context/audit.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError } from '../support/http-client.ts'
import { openConnections, readRows } from '../support/database/read-rows.ts'
import { openConsoleFixture, type ConsoleFixture } from './console-fixture.ts'

const FULL = { type: 'conflict', code: 'view_limit_reached' } as const

describe('saved views of the payments', () => {
  let server: ConsoleServer
  let fixture: ConsoleFixture
  before(async () => {
    server = await openConsoleServer()
  })
  beforeEach(async () => {
    fixture = await openConsoleFixture(server)
  })
  after(() => server.close())

  test('a view is saved, replaced under its name, and deleted; each change is in the audit log once', async () => {
    const made = await save(' Failed ', 'sort=oldest&status=failed&agent=')
    assert.deepEqual(made, { id: made.id, name: 'Failed', query: 'status=failed&sort=oldest' })
    assert.match(made.id, /^viw_[0-9A-HJKMNP-TV-Z]{26}$/)
    assert.deepEqual(await save('Failed', 'sort=oldest&status=failed'), made)
    const replaced = await save('Failed', 'status=failed&q=%3E100')
    assert.deepEqual(replaced, { ...made, query: 'status=failed&q=%3E100' })
    await save('Live', 'kind=x402', 'live')
    await save('Big', 'min=100')
    assert.deepEqual(
      (await list()).map(({ name }) => name),
      ['Big', 'Failed'],
    )
    assert.deepEqual(await remove(made.id), {})
    assert.deepEqual(
      (await list()).map(({ name }) => name),
      ['Big'],
    )
    const details = { mode: 'test', name: 'Failed' }
    const by = { actor_kind: 'user', actor_id: fixture.userId, subject: made.id, details }
    const entries = await readAudit(server.context.db, fixture.workspace.id)
    assert.deepEqual(
      entries.filter(({ subject }) => subject === made.id),
      ['view.saved', 'view.saved', 'view.deleted'].map((action) => ({ ...by, action })),
    )
  })

  test('there can be exactly fifty in a mode, and they can still be replaced then', async () => {
    await readRows(
      server.context.db,
      `insert into saved_views select $1, 'viw_' || n, 'test', 'Seeded ' || n, '', $2 from generate_series(1, $3::integer) as n`,
      [fixture.workspace.id, server.clock.now(), SAVED_VIEWS_MAX - 1],
    )
    await openConnections(server.context.db)
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) =>
        fixture.browser.call('POST', fixture.at('views'), { mode: 'test', name, query: 'q=x' }),
      ),
    )
    const refused = answers.filter(({ status }) => status !== 201)
    assert.equal(refused.length, 3)
    for (const answer of refused) assert.deepEqual(expectError(answer, FULL).details, { views_max: SAVED_VIEWS_MAX })
    assert.equal((await list()).length, SAVED_VIEWS_MAX)
    assert.equal((await save('Seeded 1', 'q=y')).query, 'q=y')
    await save('In the other mode', 'q=x', 'live')
  })

  test('a view of another workspace or mode, a deleted one, and an unknown one are not found', async () => {
    const { id } = await save('Failed', 'status=failed')
    const other = await openConsoleFixture(server)
    const none = { type: 'not_found' } as const
    await other.browser.refuse('DELETE', `${other.at(`views/${id}`)}?mode=test`, none)
    await fixture.browser.refuse('DELETE', `${fixture.at(`views/${id}`)}?mode=live`, none)
    await fixture.browser.refuse('DELETE', `${fixture.at('views/x')}?mode=test`, none)
    await remove(id)
    await fixture.browser.refuse('DELETE', `${fixture.at(`views/${id}`)}?mode=test`, none)
  })

  const bodies: readonly (readonly [string, object])[] = [
    ['name', { mode: 'test', name: ' ', query: 'q=x' }],
    ['query', { mode: 'test', name: 'V', query: 'q=x&next=https://elsewhere.example' }],
    ['query', { mode: 'test', name: 'V', query: `q=${'ü'.repeat(200)}` }],
    ['query', { mode: 'test', name: 'V', query: 'x'.repeat(1_001) }],
    ['query', { mode: 'test', name: 'V', query: 'q=a%00' }],
  ]
  for (const [member, body] of bodies) {
    test(`${JSON.stringify(body).slice(0, 80)} is 400, and the error names ${member}`, async () => {
      const answer = await fixture.browser.call('POST', fixture.at('views'), body)
      const { details } = expectError(answer, { type: 'validation_failed' })
      assert.equal((details as { path: string }[])[0]?.path, member)
      assert.deepEqual(await list(), [])
    })
  }

  async function save(name: string, query: string, mode = 'test'): Promise<SavedView> {
    return (await fixture.browser.ask<{ view: SavedView }>('POST', fixture.at('views'), { mode, name, query }, 201))
      .view
  }

  async function list(): Promise<readonly SavedView[]> {
    return (await fixture.browser.ask<{ views: SavedView[] }>('GET', `${fixture.at('views')}?mode=test`)).views
  }

  async function remove(id: string): Promise<unknown> {
    return await fixture.browser.ask('DELETE', `${fixture.at(`views/${id}`)}?mode=test`)
  }
})
