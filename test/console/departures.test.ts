import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { IssuedApiKey } from '../../server/src/console/contract/keys.ts'
import type { Belongings, KeysLeftBehind } from '../../server/src/console/contract/members.ts'
import type { Context } from '../../server/src/domain/context.ts'
import { ROTATION_GRACE_MS } from '../../server/src/domain/keys/api-key.ts'
import { readAudit } from '../support/context/audit.ts'
import { seedTokens } from '../support/context/connection-rows.ts'
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
  makeSessions,
  makeTokens,
  membershipOf,
  rotateKey,
  type Make,
} from './credentials.ts'

const KEPT_BY_PERSON = 'belongs to the person, and gives access only to the workspaces of which they are a member'

/**
 * Every table that stores a secret's hash, or that names a person: functions that make such credentials, or the reason
 * why the rows give their person no access to a workspace that the person has left.
 */
const TABLES: Readonly<Record<string, Make | string>> = {
  api_keys: makeKeys,
  access_tokens: makeTokens,
  refresh_tokens: makeRefreshTokens,
  authorization_codes: makeCodes,
  connections: 'give access only through their codes and tokens',
  connection_errors: 'are a log',
  grants: 'take effect only when an owner of the wallet signs them, and any admin can suspend or discard them',
  authorization_requests: 'belong to nobody until somebody who is signed in decides on them as a member',
  invitations: makeInvitations,
  sessions: makeSessions,
  ceremonies: KEPT_BY_PERSON,
  members: 'are deleted, or have the new role',
  owner_requests: 'need the signature of an owner of the wallet, whom a member asks; the asker must still be a member',
  passkeys: KEPT_BY_PERSON,
  recovery_codes: KEPT_BY_PERSON,
  wallet_passkeys:
    'sign only what the service asks for, and it asks only members; owners are removed on the wallet’s page',
  owner_signatures: 'prove what an owner allowed, and nobody can use them again',
  stops: 'say who stopped agents, and end when an owner of the wallets resumes them',
  purchases: 'store the hash of a request, which gives no access',
  moved_credentials: 'give no access: they say that a workspace was moved to another cell',
  workspaces: 'name the person who created them, only to count what a process shares out (D91)',
}

/** What happens with the rows of a table when a person loses the role of owner or admin, and how it is tested. */
describe('what a member leaves behind', () => {
  let server: ConsoleServer
  let other: Context
  let seeded: Seed
  let owner: ConsoleFixture
  let maker: ConsoleFixture
  before(async () => {
    server = await openConsoleServer()
    other = server.openAnother()
  })
  beforeEach(async () => {
    seeded = await seed(server.context)
    owner = await openConsoleFixture(server, { workspace: seeded.workspace })
    maker = await openConsoleFixture(server, { workspace: seeded.workspace, role: 'admin', name: 'Max' })
  })
  after(() => server.close())

  test('is listed in this test, for every table that stores a secret or names a person', async () => {
    const { secrets, people } = await listTablesOfCredentials(server)
    assert.deepEqual(
      [...new Set([...secrets, ...people])].toSorted(),
      Object.keys(TABLES).toSorted(),
      'A new table stores secrets or names a person. Decide what happens with its rows when the person leaves the workspace or becomes a viewer, and add it to TABLES.',
    )
  })

  const departures: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['is removed', () => remove(owner, maker)],
    ['leaves', () => remove(maker, maker)],
    ['becomes a viewer', () => owner.browser.ask('PATCH', owner.at(`members/${maker.userId}`), { role: 'viewer' })],
    ['steps down', () => maker.browser.ask('PATCH', maker.at(`members/${maker.userId}`), { role: 'viewer' })],
  ]
  for (const [name, depart] of departures) {
    test(`gives no access, on any process, once a member ${name}`, async () => {
      const made = await makeAll(TABLES, { server, member: maker, agentId: seeded.agentId })
      const processes = [server.context, other]
      await openConnections(...processes.map(({ db }) => db))
      assert.deepEqual(await listWhere(false, made, processes), [])
      await depart()
      assert.deepEqual(await listWhere(true, made, processes), [])
    })
  }

  test('includes the keys that pay: the next payment gets a 401', async () => {
    const [test, live] = [await createKey(maker, 'test'), await createKey(maker, 'live')]
    assert.equal((await pay(test.secret)).status, 201)
    await remove(owner, maker)
    for (const { secret } of [test, live]) expectError(await pay(secret), { type: 'unauthenticated' })
  })

  test('is kept if whoever removes the member names it, and the response and the audit log list both', async () => {
    const [kept, lost, live] = [
      await createKey(maker, 'test'),
      await createKey(maker, 'test', { agent_id: seeded.agentId }),
      await createKey(maker, 'live'),
    ]
    const left = await remove(owner, maker, [kept.key.id, live.key.id])
    assert.deepEqual(left, { keys_revoked: [shown(lost)], keys_kept: [shown(kept), shown(live)] })
    assert.deepEqual([await isUsable(kept), await isUsable(lost), await isUsable(live)], [true, false, true])
    const row = { actor_kind: 'user', actor_id: owner.userId }
    const about = { name: 'Key', created_by: maker.userId }
    assert.deepEqual((await readAudit(server.context.db, owner.workspace.id)).slice(-4), [
      {
        ...{ ...row, action: 'member.removed', subject: maker.userId },
        details: { keys_revoked: [lost.key.id], keys_kept: [kept.key.id, live.key.id] },
      },
      {
        ...row,
        action: 'key.revoked',
        subject: lost.key.id,
        details: { ...about, mode: 'test', agent_id: seeded.agentId },
      },
      { ...row, action: 'key.kept', subject: kept.key.id, details: { ...about, mode: 'test' } },
      { ...row, action: 'key.kept', subject: live.key.id, details: { ...about, mode: 'live' } },
    ])
  })

  test('is revoked later if a kept key’s maker, now a viewer, is removed', async () => {
    const kept = await createKey(maker, 'test')
    const body = { role: 'viewer', keep_keys: [kept.key.id] }
    const path = owner.at(`members/${maker.userId}`)
    assert.deepEqual(await owner.browser.ask('PATCH', path, body), { keys_revoked: [], keys_kept: [shown(kept)] })
    assert.equal(await isUsable(kept), true)
    assert.deepEqual(await remove(owner, maker), { keys_revoked: [shown(kept)], keys_kept: [] })
    assert.equal(await isUsable(kept), false)
  })

  test('cannot be kept by its maker, nor if the id names no working key of the member', async () => {
    const own = await createKey(maker, 'test')
    const others = await createKey(owner, 'test')
    const own404 = { type: 'not_found', code: 'key_not_found' } as const
    const path = (...ids: string[]) => owner.at(`members/${maker.userId}?keep_keys=${ids.join(',')}`)
    await maker.browser.refuse('DELETE', path(own.key.id), { type: 'forbidden', code: 'own_keys_not_kept' })
    await owner.browser.refuse('DELETE', path(own.key.id, others.key.id), own404)
    await owner.browser.refuse('DELETE', path('x'), own404)
    const raised = { role: 'owner', keep_keys: [own.key.id] }
    await owner.browser.refuse('PATCH', path(), { type: 'validation_failed' }, raised)
    assert.deepEqual([await isUsable(own), await isUsable(others)], [true, true])
    assert.deepEqual(await remove(owner, maker, [own.key.id]), { keys_revoked: [], keys_kept: [shown(own)] })
  })

  test('is everything that the list of belongings shows: keys of both modes, also old ones in their grace period', async () => {
    const old = await createKey(maker, 'test')
    const rotated = await rotateKey(maker, old)
    const live = await createKey(maker, 'live')
    const revoked = await createKey(maker, 'test')
    await maker.browser.ask('POST', maker.at(`keys/${revoked.key.id}/revoke`), {})
    await createKey(owner, 'test')
    assert.equal((await pay(rotated.secret)).status, 201)
    const membership = await membershipOf(server, maker)
    await seedTokens(server.context, { membership })
    await seedTokens(server.context, { membership: await membershipOf(server, owner) })
    const { keys, connections } = await owner.browser.ask<Belongings>(
      'GET',
      owner.at(`members/${maker.userId}/belongings`),
    )
    assert.deepEqual(
      keys.map(({ id, last_used_at: lastUsedAt }) => [id, lastUsedAt !== null]),
      [
        [old.key.id, false],
        [rotated.key.id, true],
        [live.key.id, false],
      ],
    )
    assert.deepEqual(
      connections.map(({ client_name: name, mode }) => [name, mode]),
      [['Test client', 'test']],
    )
    const left = await remove(owner, maker)
    assert.deepEqual(
      left.keys_revoked.map(({ id }) => id),
      keys.map(({ id }) => id),
    )
  })

  test('does not include a key that another member got by rotating the maker’s key', async () => {
    const old = await createKey(maker, 'test')
    const rotated = await rotateKey(owner, old)
    assert.deepEqual((await remove(owner, maker)).keys_revoked, [shown(old)])
    assert.deepEqual([await isUsable(old), await isUsable(rotated)], [false, true])
  })

  test('stays with a member whose role is changed to another one that may make keys', async () => {
    const key = await createKey(maker, 'test')
    const none = { keys_revoked: [], keys_kept: [] }
    for (const role of ['owner', 'admin', 'admin']) {
      assert.deepEqual(await owner.browser.ask('PATCH', owner.at(`members/${maker.userId}`), { role }), none)
    }
    assert.equal(await isUsable(key), true)
  })

  test('does not come back when the person joins again', async () => {
    const key = await createKey(maker, 'test')
    await remove(owner, maker)
    await openConsoleFixture(server, { workspace: seeded.workspace })
    const again = { workspace_id: seeded.workspace.id, user_id: maker.userId }
    await readRows(
      server.context.db,
      'insert into members (workspace_id, user_id, role, created_at) values ($1, $2, $3, $4)',
      [again.workspace_id, again.user_id, 'owner', server.clock.now()],
    )
    assert.equal(await isUsable(key), false)
  })

  test('is marked on the page of the keys, and stays usable until its grace period ends, if it was kept', async () => {
    const old = await createKey(maker, 'test')
    await rotateKey(maker, old)
    const own = await createKey(owner, 'test')
    await remove(owner, maker, [old.key.id])
    const { keys } = await owner.browser.ask<{
      keys: { id: string; by_former_member: boolean; grace_until: string }[]
    }>('GET', owner.at('keys?mode=test'))
    const marked = new Map(keys.map((key) => [key.id, key.by_former_member]))
    assert.deepEqual([marked.get(old.key.id), marked.get(own.key.id)], [true, false])
    const grace = keys.find(({ id }) => id === old.key.id)?.grace_until ?? ''
    assert.ok(new Date(grace).getTime() <= server.clock.now().getTime() + ROTATION_GRACE_MS)
  })

  test('has no gap: a key that is made or rotated while its maker is removed ends with the others', async () => {
    const first = await createKey(maker, 'test')
    const ids = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        if (index === 3) await remove(owner, maker)
        const path = maker.at(index % 2 === 0 ? 'keys' : `keys/${first.key.id}/rotate`)
        const answer = await maker.browser.call('POST', path, index % 2 === 0 ? { mode: 'test', name: 'Key' } : {})
        return answer.status
      }),
    )
    assert.ok(ids.some((status) => status >= 400))
    const rows = await readRows(
      server.context.db,
      'select id from api_keys where workspace_id = $1 and created_by = $2 and revoked_at is null',
      [seeded.workspace.id, maker.userId],
    )
    assert.deepEqual(rows, [])
  })

  function shown({ key }: IssuedApiKey) {
    return { id: key.id, mode: key.mode, name: key.name, agent_id: key.agent_id, last4: key.last4 }
  }

  async function isUsable({ secret }: IssuedApiKey): Promise<boolean> {
    return (await send(server.url, { path: '/v1/me', key: secret })).status === 200
  }

  async function remove(
    by: ConsoleFixture,
    member: ConsoleFixture,
    keep: readonly string[] = [],
  ): Promise<KeysLeftBehind> {
    const query = keep.length === 0 ? '' : `?keep_keys=${keep.join(',')}`
    return await by.browser.ask<KeysLeftBehind>('DELETE', by.at(`members/${member.userId}${query}`))
  }

  function pay(key: string) {
    return send(server.url, { path: '/v1/payments', key, body: paymentBody(seeded) })
  }
})
