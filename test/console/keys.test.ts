import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { ApiKey, IssuedApiKey } from '../../server/src/console/contract/keys.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { KEYS_LISTED_MAX, KEYS_MAX, ROTATION_GRACE_MS } from '../../server/src/domain/keys/api-key.ts'
import { issueKey } from '../../server/src/domain/keys/issue-key.ts'
import { RECENT_PROOF_MS } from '../../server/src/domain/require-recent-proof.ts'
import { readAudit } from '../support/context/audit.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError, send } from '../support/http-client.ts'
import { openConnections, readRows } from '../support/database/read-rows.ts'
import { openConsoleFixture, type ConsoleFixture } from './console-fixture.ts'
import { verify } from './person.ts'

const NO_KEY = { type: 'not_found', code: 'key_not_found' } as const
const UNVERIFIED = { type: 'forbidden', code: 'verification_required' } as const
const FULL = { type: 'conflict', code: 'key_limit_reached' } as const
const SECRET_PATTERN = /^svc_test_[A-Za-z0-9]{20,}$/
const HOUR_MS = 3_600_000

describe('API keys in the dashboard', () => {
  let server: ConsoleServer
  let fixture: ConsoleFixture
  let offsetMs = 0
  before(async () => {
    server = await openConsoleServer()
  })
  beforeEach(async () => {
    fixture = await openConsoleFixture(server)
  })
  after(() => server.close())

  test('a key is created with a name, its secret is shown once, and the list shows who created it and its last use', async () => {
    const made = await create({ name: ' Payroll ' })
    assert.match(made.secret, SECRET_PATTERN)
    const { id, created_at: createdAt } = made.key
    assert.match(id, /^key_[0-9A-HJKMNP-TV-Z]{26}$/)
    const expected = {
      ...{ id, mode: 'test', name: 'Payroll', created_at: createdAt, created_by: 'Ada', by_former_member: false },
      ...{ agent_id: null, scopes: null, last4: made.secret.slice(-4) },
      ...{ grace_until: null, revoked_at: null, state: 'active', last_used_at: null },
    }
    assert.deepEqual(made.key, expected)
    assert.deepEqual(await list(), [expected])
    assert.deepEqual(await list('live'), [])
    const used = server.clock.now().getTime()
    assert.equal((await callApi(made.secret)).status, 200)
    const lastUsedAt = (await list())[0]?.last_used_at ?? null
    const at = new Date(lastUsedAt ?? 0).getTime()
    assert.ok(at >= used && at <= server.clock.now().getTime(), String(lastUsedAt))
    assert.ok(!JSON.stringify(await list()).includes(made.secret))
    const rows = await readAudit(server.context.db, fixture.workspace.id)
    assert.deepEqual(rows.at(-1), {
      ...{ actor_kind: 'user', actor_id: fixture.userId, action: 'key.issued', subject: id },
      details: { mode: 'test', name: 'Payroll' },
    })
  })

  test('a key that the operator created shows no creator', async () => {
    await issueKey(server.context, { workspaceId: fixture.workspace.id, mode: 'test', actor: OPERATOR })
    const [key] = await list()
    assert.deepEqual([key?.name, key?.created_by], ['API key', null])
  })

  test('a rotation creates another key with the same name; the old one works until its grace period ends', async () => {
    const old = await create()
    const rotated = await fixture.browser.ask<IssuedApiKey>('POST', fixture.at(`keys/${old.key.id}/rotate`), {}, 201)
    assert.match(rotated.secret, SECRET_PATTERN)
    assert.notEqual(rotated.secret, old.secret)
    assert.deepEqual([rotated.key.name, rotated.key.state, rotated.key.grace_until], ['Key', 'active', null])
    const grace = new Date(String(rotated.grace_until)).getTime()
    assert.ok(Math.abs(grace - server.clock.now().getTime() - ROTATION_GRACE_MS) < HOUR_MS)
    for (const { secret } of [old, rotated]) assert.equal((await callApi(secret)).status, 200)
    const states = async () => (await list()).map(({ id, state, grace_until: until }) => [id, state, until])
    assert.deepEqual(await states(), [
      [rotated.key.id, 'active', null],
      [old.key.id, 'rotated', rotated.grace_until],
    ])
    const stranger = { type: 'conflict', code: 'key_not_rotatable' } as const
    await fixture.browser.refuse('POST', fixture.at(`keys/${old.key.id}/rotate`), stranger, {})
    await server.context.db.write({
      ...{ name: 'test_end_grace', text: 'update api_keys set grace_until = $2 where id = $1' },
      ...{ values: [old.key.id, server.clock.now()], read: () => null },
    })
    assert.equal((await callApi(old.secret)).status, 401)
    assert.equal((await list())[1]?.state, 'expired')
  })

  test('a key for one agent and some scopes is shown as such, and its rotation keeps both', async () => {
    await fixture.browser.ask('POST', fixture.at('agents'), { mode: 'test', id: 'ko\u0308der' }, 201)
    const terms = { agent_id: 'ko\u0308der', scopes: ['wallet:transfer', 'wallet:read'] }
    const made = await create(terms)
    const rotated = await fixture.browser.ask<IssuedApiKey>('POST', fixture.at(`keys/${made.key.id}/rotate`), {}, 201)
    for (const { key, secret } of [made, rotated]) {
      const shown = { agent_id: 'köder', scopes: ['wallet:read', 'wallet:transfer'], last4: secret.slice(-4) }
      assert.deepEqual({ agent_id: key.agent_id, scopes: key.scopes, last4: key.last4 }, shown)
      const listed = (await list()).find(({ id }) => id === key.id)
      assert.deepEqual({ agent_id: listed?.agent_id, scopes: listed?.scopes, last4: listed?.last4 }, shown)
      assert.equal(JSON.parse((await callApi(secret)).text).agent_id, 'köder')
    }
  })

  test('a key for an agent that this workspace and mode do not have is not created', async () => {
    const other = await openConsoleFixture(server)
    await other.browser.ask('POST', other.at('agents'), { mode: 'test', id: 'foreign' }, 201)
    await fixture.browser.ask('POST', fixture.at('agents'), { mode: 'live', id: 'of live' }, 201)
    const missing = { type: 'not_found', code: 'agent_not_found' } as const
    for (const id of ['foreign', 'of live', 'nobody']) {
      const body = { mode: 'test', name: 'Key', agent_id: id }
      await fixture.browser.refuse('POST', fixture.at('keys'), missing, body)
    }
    assert.deepEqual(await list(), [])
  })

  test('of ten rotations of one key at once, one succeeds', async () => {
    const { key } = await create()
    await openConnections(server.context.db)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => fixture.browser.call('POST', fixture.at(`keys/${key.id}/rotate`), {})),
    )
    const losers = answers.filter(({ status }) => status !== 201)
    assert.equal(losers.length, 9)
    for (const answer of losers) {
      expectError(answer, { type: 'conflict', code: 'key_not_rotatable' })
    }
    assert.equal((await list()).length, 2)
  })

  test('a revoked key is 401 at once and stays in the list, and a second revocation changes nothing', async () => {
    const { key, secret } = await create()
    const path = fixture.at(`keys/${key.id}/revoke`)
    const first = await fixture.browser.ask<{ key: ApiKey }>('POST', path, {})
    assert.equal(first.key.state, 'revoked')
    assert.equal((await callApi(secret)).status, 401)
    const second = await fixture.browser.ask<{ key: ApiKey }>('POST', path, {})
    assert.equal(second.key.revoked_at, first.key.revoked_at)
    const actions = (await readAudit(server.context.db, fixture.workspace.id)).map((row) => row['action'])
    assert.equal(actions.filter((action) => action === 'key.revoked').length, 1)
    const gone = { type: 'conflict', code: 'key_not_rotatable' } as const
    await fixture.browser.refuse('POST', fixture.at(`keys/${key.id}/rotate`), gone, {})
  })

  test('the newest keys are first in the list, the ended ones last, and there are at most a hundred', async () => {
    const [first, second, third] = [await create(), await create(), await create()]
    await fixture.browser.ask('POST', fixture.at(`keys/${third.key.id}/revoke`), {})
    const listed = await list()
    assert.deepEqual(
      listed.map(({ id }) => id),
      [second.key.id, first.key.id, third.key.id],
    )
    for (let left = KEYS_LISTED_MAX; left > 0; left -= 1) {
      const { key } = await issueKey(server.context, {
        workspaceId: fixture.workspace.id,
        mode: 'test',
        actor: OPERATOR,
      })
      await readRows(server.context.db, 'update api_keys set revoked_at = created_at where id = $1', [key.id])
    }
    const many = await list()
    assert.equal(many.length, KEYS_LISTED_MAX)
    assert.deepEqual(
      many.slice(0, 2).map(({ id }) => id),
      [second.key.id, first.key.id],
    )
  })

  test('of 60 keys created at once, 50 are; a rotation needs one more, and a revocation frees one', async () => {
    await openConnections(server.context.db)
    const answers = await Promise.all(
      Array.from({ length: 60 }, () =>
        fixture.browser.call('POST', fixture.at('keys'), { mode: 'test', name: 'Race' }),
      ),
    )
    const refused = answers.filter(({ status }) => status !== 201)
    assert.equal(refused.length, 60 - KEYS_MAX)
    for (const answer of refused) assert.deepEqual(expectError(answer, FULL).details, { keys_max: KEYS_MAX })
    const keys = await list()
    assert.equal(keys.length, KEYS_MAX)
    const [one, other] = keys
    assert.ok(one !== undefined && other !== undefined)
    const rotation = fixture.at(`keys/${one.id}/rotate`)
    await fixture.browser.refuse('POST', rotation, FULL, {})
    assert.equal((await list())[0]?.state, 'active', 'the refused rotation left no grace behind')
    await fixture.browser.ask('POST', fixture.at(`keys/${other.id}/revoke`), {})
    await fixture.browser.ask('POST', rotation, {}, 201)
    await fixture.browser.refuse('POST', fixture.at('keys'), FULL, { mode: 'test', name: 'One more' })
    assert.equal(
      (await fixture.browser.call('POST', fixture.at('keys'), { mode: 'live', name: 'Other mode' })).status,
      201,
    )
    await issueKey(server.context, { workspaceId: fixture.workspace.id, mode: 'test', actor: OPERATOR })
  })

  test('creating a key requires a proof of identity in both modes, and revoking one never does', async () => {
    const [live, test] = [await create({ mode: 'live' }), await create()]
    assert.match(live.secret, /^svc_live_/)
    server.clock.setOffset((offsetMs += RECENT_PROOF_MS))
    for (const { mode, id } of [
      { mode: 'live', id: live.key.id },
      { mode: 'test', id: test.key.id },
    ] as const) {
      await fixture.browser.refuse('POST', fixture.at('keys'), UNVERIFIED, { mode, name: 'Key' })
      await fixture.browser.refuse('POST', fixture.at(`keys/${id}/rotate`), UNVERIFIED, {})
      assert.deepEqual(
        (await list(mode)).map(({ state }) => state),
        ['active'],
      )
    }
    await verify(fixture.browser, fixture.passkey)
    await create({ mode: 'live' })
    for (const { id } of [live.key, test.key])
      await fixture.browser.ask('POST', fixture.at(`keys/${id}/rotate`), {}, 201)
    server.clock.setOffset((offsetMs += RECENT_PROOF_MS))
    await fixture.browser.ask('POST', fixture.at(`keys/${live.key.id}/revoke`), {})
  })

  test('a key of another workspace, and an unknown id, are not found', async () => {
    const { key } = await create()
    const other = await openConsoleFixture(server)
    for (const id of [key.id, 'key_01J00000000000000000000000', 'key_', 'x', '%00']) {
      for (const verb of ['rotate', 'revoke']) {
        await other.browser.refuse('POST', other.at(`keys/${id}/${verb}`), NO_KEY, {})
      }
    }
    assert.equal((await list())[0]?.state, 'active')
  })

  const bodies: readonly (readonly [string, object])[] = [
    ['mode', { name: 'Key' }],
    ['mode', { mode: 'prod', name: 'Key' }],
    ['name', { mode: 'test' }],
    ['name', { mode: 'test', name: '' }],
    ['name', { mode: 'test', name: ' ' }],
    ['name', { mode: 'test', name: 'x'.repeat(101) }],
    ['name', { mode: 'test', name: 'a\u202eb' }],
    ['name', { mode: 'test', name: ['Key'] }],
    ['agent_id', { mode: 'test', name: 'Key', agent_id: '' }],
    ['agent_id', { mode: 'test', name: 'Key', agent_id: ' x' }],
    ['agent_id', { mode: 'test', name: 'Key', agent_id: 'a\u0000' }],
    ['scopes', { mode: 'test', name: 'Key', scopes: [] }],
    ['scopes', { mode: 'test', name: 'Key', scopes: ['wallet:read', 'wallet:read'] }],
    ['scopes.0', { mode: 'test', name: 'Key', scopes: ['admin'] }],
  ]
  for (const [member, body] of bodies) {
    test(`${JSON.stringify(body).slice(0, 40)} is 400, and the error names ${member}`, async () => {
      const answer = await fixture.browser.call('POST', fixture.at('keys'), body)
      const details = expectError(answer, { type: 'validation_failed' }).details as { path: string }[]
      assert.deepEqual(
        details.map(({ path }) => path),
        [member],
      )
      assert.deepEqual(await list(), [])
    })
  }

  async function create(wanted: object = {}): Promise<IssuedApiKey> {
    const body = { mode: 'test', name: 'Key', ...wanted }
    return await fixture.browser.ask<IssuedApiKey>('POST', fixture.at('keys'), body, 201)
  }

  async function list(mode = 'test'): Promise<readonly ApiKey[]> {
    return (await fixture.browser.ask<{ keys: ApiKey[] }>('GET', `${fixture.at('keys')}?mode=${mode}`)).keys
  }

  function callApi(key: string) {
    return send(server.url, { path: '/v1/me', key })
  }
})
