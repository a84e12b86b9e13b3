import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { ApiKey } from '../../server/src/console/contract/keys.ts'
import type { Session } from '../../server/src/console/contract/session.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { endAllConnections } from '../../server/src/domain/connections/end-all-connections.ts'
import type { Context } from '../../server/src/domain/context.ts'
import { holdAllKeys } from '../../server/src/domain/keys/hold-all-keys.ts'
import { endAllInvitations } from '../../server/src/domain/members/end-all-invitations.ts'
import { endAllSessions } from '../../server/src/domain/sessions/end-all-sessions.ts'
import { readAudit } from '../support/context/audit.ts'
import { later } from '../support/context/moved-clock.ts'
import { signInPerson } from '../support/context/people.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { openConnections, readRows } from '../support/database/read-rows.ts'
import { expectError, send } from '../support/http-client.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { paymentBody } from '../support/service/test-service.ts'
import { openConsoleFixture, type ConsoleFixture } from './console-fixture.ts'
import {
  createKey,
  listTablesOfCredentials,
  listWhere,
  makeAll,
  makeCodes,
  makeInvitations,
  makeKeys,
  makeRefreshTokens,
  makeRequests,
  makeSessions,
  makeTokens,
  rotateKey,
  type Make,
} from './credentials.ts'

const HELD = { type: 'forbidden', code: 'key_held' } as const
const OF_THE_PERSON =
  'nothing shows which of them the person still wants; each sign-in is in the audit log, and backups.md names the risk'

/**
 * Every table that stores the hash of a secret: functions that make such credentials, or the reason why a backup that
 * brings them back gives nobody access.
 */
const TABLES: Readonly<Record<string, Make | string>> = {
  api_keys: makeKeys,
  access_tokens: makeTokens,
  refresh_tokens: makeRefreshTokens,
  authorization_codes: makeCodes,
  authorization_requests: makeRequests,
  invitations: makeInvitations,
  sessions: makeSessions,
  ceremonies: 'are counted below, because each needs its own browser',
  recovery_codes: OF_THE_PERSON,
  purchases: 'store the hash of a request, which gives no access',
  moved_credentials: 'give no access: they say that a workspace was moved to another cell',
}

/** A restored database contains credentials that were revoked or used up since the backup was made (D96a). */
describe('after the database was restored', () => {
  let server: ConsoleServer
  let ctx: Context
  let other: Context
  let seeded: Seed
  let owner: ConsoleFixture
  before(async () => {
    server = await openConsoleServer()
    ctx = server.context
    other = server.openAnother()
  })
  beforeEach(async () => {
    seeded = await seed(ctx)
    owner = await openConsoleFixture(server, { workspace: seeded.workspace })
  })
  after(() => server.close())

  test('every table that stores a secret is listed in this test', async () => {
    const { secrets } = await listTablesOfCredentials(server)
    assert.deepEqual(
      secrets,
      Object.keys(TABLES).toSorted(),
      'A new table stores secrets. After a restore, one of the functions that this test calls must end them. Then add the table to TABLES.',
    )
  })

  test('no credential from the backup gives access, on any process, and the operator’s actions are logged', async () => {
    const made = await makeAll(TABLES, { server, member: owner, agentId: seeded.agentId })
    await owner.browser.ask('POST', '/console/verification/options', {})
    await openConnections(ctx.db, other.db)
    assert.deepEqual(await listWhere(false, made, [ctx, other]), [])
    const logged = (await readAudit(ctx.db, seeded.workspace.id)).length
    const restoredAt = ctx.clock.now()
    const done = await endAll(ctx, restoredAt)
    assert.deepEqual(await listWhere(true, made, [ctx, other]), [])
    assert.deepEqual(
      Object.values(done).map((count) => count > 0),
      Object.values(done).map(() => true),
      JSON.stringify(done),
    )
    assert.deepEqual(await readRows(ctx.db, 'select kind from ceremonies'), [])
    const rows = (await readAudit(ctx.db, seeded.workspace.id)).slice(logged)
    assert.deepEqual(new Set(rows.map((row) => row['actor_kind'])), new Set(['operator']))
    assert.deepEqual(
      new Set(rows.map((row) => row['action'])),
      new Set(['key.held', 'invitation.revoked', 'connection.revoked']),
    )
    const own = (await readAudit(ctx.db, owner.userId)).at(-1)
    assert.deepEqual([own?.['action'], own?.['details']], ['user.sessions_ended', { sessions: 1, because: 'restore' }])
    assert.deepEqual(await endAll(ctx, restoredAt), {
      keys: 0,
      workspaces: 0,
      sessions: 0,
      ceremonies: 0,
      invitations: 0,
      connections: 0,
      requests: 0,
    })
  })

  test('a held key pays nothing, gets 403 and not 401, and is not counted; keys that are made later work', async () => {
    assert.equal((await pay(seeded.key)).status, 201)
    const used = await readRows(ctx.db, 'select hits from rate_windows where cardinality(hits) > 0')
    await holdAllKeys(ctx, { actor: OPERATOR, restoredAt: ctx.clock.now() })
    for (const path of ['/v1/me', '/v1/payments/pay_x', '/v1/ledger']) {
      const answer = await send(server.url, { path, key: seeded.key })
      expectError(answer, HELD)
      assert.equal(answer.headers['www-authenticate'], undefined)
    }
    expectError(await pay(seeded.key), HELD)
    expectError(await send(server.url, { path: '/v1/agents', key: seeded.key, body: { id: 'a' } }), HELD)
    const [payments] = await readRows(ctx.db, 'select count(*)::int as made from payments where workspace_id = $1', [
      seeded.workspace.id,
    ])
    assert.equal(payments?.['made'], 1)
    assert.deepEqual(await readRows(ctx.db, 'select hits from rate_windows where cardinality(hits) > 0'), used)
    await owner.browser.refuse(
      'POST',
      owner.at(`keys/${await keyId()}/rotate`),
      { type: 'conflict', code: 'key_not_rotatable' },
      {},
    )
    const fresh = await createKey(owner, 'test')
    assert.equal((await pay(fresh.secret)).status, 201)
  })

  test('the hold names its restore: the same one does not hold a confirmed key again, and a later one does', async () => {
    const restoredAt = ctx.clock.now()
    const hold = (at: Date) => holdAllKeys(ctx, { actor: OPERATOR, restoredAt: at })
    await hold(restoredAt)
    await confirm()
    assert.equal((await pay(seeded.key)).status, 201)
    assert.deepEqual(await hold(restoredAt), { keys: 0, workspaces: 0 })
    assert.equal((await pay(seeded.key)).status, 201)
    const again = await hold(new Date(restoredAt.getTime() + 1))
    assert.ok(again.keys > 0)
    expectError(await pay(seeded.key), HELD)
  })

  test('an owner confirms keys of both modes by name; the others are revoked, and the audit log lists both', async () => {
    const former = await openConsoleFixture(server, { workspace: seeded.workspace, role: 'admin', name: 'Max' })
    const [test, live, theirs] = [
      await createKey(owner, 'test', { agent_id: seeded.agentId }),
      await createKey(owner, 'live'),
      await createKey(former, 'test'),
    ]
    await owner.browser.ask('DELETE', owner.at(`members/${former.userId}?keep_keys=${theirs.key.id}`))
    assert.deepEqual([await hasHeldKeys(owner), await listHeld(owner)], [false, []])
    await holdAllKeys(ctx, { actor: OPERATOR, restoredAt: ctx.clock.now() })
    const viewer = await openConsoleFixture(server, { workspace: seeded.workspace, role: 'viewer' })
    const held = await listHeld(viewer)
    assert.deepEqual(await hasHeldKeys(viewer), true)
    assert.deepEqual(
      held.map(({ id, mode, name, last4, created_by: by, by_former_member: isFormer, state }) => [
        id,
        mode,
        name,
        last4,
        by,
        isFormer,
        state,
      ]),
      [
        [await keyId(), 'test', 'API key', seeded.key.slice(-4), null, false, 'held'],
        [test.key.id, 'test', 'Key', test.secret.slice(-4), 'Ada', false, 'held'],
        [live.key.id, 'live', 'Key', live.secret.slice(-4), 'Ada', false, 'held'],
        [theirs.key.id, 'test', 'Key', theirs.secret.slice(-4), 'Max', true, 'held'],
      ].toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
    )
    const logged = (await readAudit(ctx.db, seeded.workspace.id)).length
    const chosen = [test.key.id, live.key.id]
    const decided = await owner.browser.ask<{ confirmed: string[]; revoked: string[] }>('POST', owner.at('held-keys'), {
      confirm: chosen,
    })
    assert.deepEqual(decided.confirmed.toSorted(), chosen.toSorted())
    assert.deepEqual(decided.revoked.toSorted(), [await keyId(), theirs.key.id].toSorted())
    const works = async (secret: string) => (await send(server.url, { path: '/v1/me', key: secret })).status
    assert.deepEqual(await Promise.all([test, live, theirs].map(({ secret }) => works(secret))), [200, 200, 401])
    assert.equal(await works(seeded.key), 401)
    assert.deepEqual([await hasHeldKeys(owner), await listHeld(owner)], [false, []])
    const rows = (await readAudit(ctx.db, seeded.workspace.id)).slice(logged)
    assert.deepEqual(
      new Set(rows.map((row) => `${String(row['actor_id'])} ${String(row['action'])} ${String(row['subject'])}`)),
      new Set([
        ...decided.confirmed.map((id) => `${owner.userId} key.confirmed ${id}`),
        ...decided.revoked.map((id) => `${owner.userId} key.revoked ${id}`),
      ]),
    )
  })

  test('only an owner with a recent proof confirms, and a decision that another owner has made is not overwritten', async () => {
    const admin = await openConsoleFixture(server, { workspace: seeded.workspace, role: 'admin' })
    const second = await openConsoleFixture(server, { workspace: seeded.workspace })
    const other = await createKey(owner, 'test')
    await holdAllKeys(ctx, { actor: OPERATOR, restoredAt: ctx.clock.now() })
    const id = await keyId()
    const tooLow = { type: 'forbidden', code: 'role_insufficient' } as const
    await admin.browser.refuse('POST', admin.at('held-keys'), tooLow, { confirm: [id] })
    const gone = { type: 'conflict', code: 'key_not_held' } as const
    await owner.browser.refuse('POST', owner.at('held-keys'), gone, { confirm: [id, 'key_x'] })
    assert.equal((await listHeld(owner)).length, 2)
    const decide = (by: ConsoleFixture, confirm: string) =>
      by.browser.call('POST', by.at('held-keys'), { confirm: [confirm] })
    const answers = await Promise.all([decide(owner, id), decide(second, other.key.id)])
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 409]))
    const { status } = await send(server.url, { path: '/v1/me', key: seeded.key })
    const { status: ofOther } = await send(server.url, { path: '/v1/me', key: other.secret })
    assert.deepEqual(new Set([status, ofOther]), new Set([200, 401]))
    assert.deepEqual(await owner.browser.ask('POST', owner.at('held-keys'), { confirm: [] }), {
      confirmed: [],
      revoked: [],
    })
  })

  test('a held key can be revoked, and one whose grace period ends no longer waits', async () => {
    const old = await createKey(owner, 'test')
    await rotateKey(owner, old)
    await holdAllKeys(ctx, { actor: OPERATOR, restoredAt: ctx.clock.now() })
    for (const { id } of await listHeld(owner)) {
      if (id !== old.key.id) await owner.browser.ask('POST', owner.at(`keys/${id}/revoke`), {})
    }
    assert.deepEqual([(await listHeld(owner)).map(({ id }) => id), await hasHeldKeys(owner)], [[old.key.id], true])
    await readRows(ctx.db, 'update api_keys set grace_until = $2 where id = $1', [old.key.id, ctx.clock.now()])
    assert.deepEqual([await listHeld(owner), await hasHeldKeys(owner)], [[], false])
  })

  test('keys that are revoked, or past their grace period, are not held, and a later key is not held', async () => {
    const [first, second] = [await createKey(owner, 'test'), await createKey(owner, 'live')]
    await owner.browser.ask('POST', owner.at(`keys/${first.key.id}/revoke`), {})
    await readRows(ctx.db, 'update api_keys set grace_until = $2 where id = $1', [second.key.id, ctx.clock.now()])
    const restoredAt = ctx.clock.now()
    const future = later(ctx, 1_000)
    await readRows(ctx.db, 'update api_keys set created_at = $2 where id = $1', [await keyId(), future.clock.now()])
    await holdAllKeys(future, { actor: OPERATOR, restoredAt })
    const rows = await readRows(ctx.db, 'select held_at from api_keys where workspace_id = $1', [seeded.workspace.id])
    assert.deepEqual(
      rows.map((row) => row['held_at']),
      [null, null, null],
    )
  })

  test('more rows than one step changes are all changed', async () => {
    const now = ctx.clock.now()
    await readRows(
      ctx.db,
      `insert into api_keys (workspace_id, id, mode, secret_hash, last4, created_at)
        select $1, 'key_' || lpad(i::text, 26, '0'), 'test', sha256((i || $1)::bytea), 'abcd', $2 from generate_series(1, 2100) i`,
      [seeded.workspace.id, now],
    )
    const { keys } = await holdAllKeys(ctx, { actor: OPERATOR, restoredAt: now })
    assert.ok(keys >= 2_101, String(keys))
    const left = 'select count(*)::int as keys from api_keys where workspace_id = $1 and held_at is null'
    assert.equal((await readRows(ctx.db, left, [seeded.workspace.id]))[0]?.['keys'], 0)
  })

  test('people can sign in again', async () => {
    await endAllSessions(ctx, { actor: OPERATOR })
    await owner.browser.refuse('GET', owner.at('members'), { type: 'unauthenticated' })
    const { secret } = await signInPerson(ctx, owner)
    owner.browser.cookies.set('session', secret)
    await owner.browser.ask('GET', owner.at('members'))
  })

  async function endAll(context: Context, restoredAt: Date) {
    const actor = OPERATOR
    return {
      ...(await holdAllKeys(context, { actor, restoredAt })),
      ...(await endAllSessions(context, { actor })),
      ...(await endAllInvitations(context, { actor })),
      ...(await endAllConnections(context, { actor })),
    }
  }

  /** Confirms all held keys, as an owner does. */
  async function confirm(): Promise<void> {
    const confirmed = (await listHeld(owner)).map(({ id }) => id)
    await owner.browser.ask('POST', owner.at('held-keys'), { confirm: confirmed })
  }

  async function listHeld(by: ConsoleFixture): Promise<ApiKey[]> {
    return (await by.browser.ask<{ keys: ApiKey[] }>('GET', by.at('held-keys'))).keys
  }

  async function hasHeldKeys(by: ConsoleFixture): Promise<boolean | undefined> {
    const { session } = await by.browser.ask<{ session: Session }>('GET', '/console/session')
    return session.workspaces.find(({ slug }) => slug === seeded.workspace.slug)?.has_held_keys
  }

  async function keyId(): Promise<string> {
    const [row] = await readRows(ctx.db, 'select id from api_keys where workspace_id = $1 and created_by is null', [
      seeded.workspace.id,
    ])
    return String(row?.['id'])
  }

  function pay(key: string) {
    return send(server.url, { path: '/v1/payments', key, body: paymentBody(seeded) })
  }
})
