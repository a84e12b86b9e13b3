import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readAudit } from '../../../../test/support/context/audit.ts'
import { seedMember } from '../../../../test/support/context/connection-rows.ts'
import { justProved } from '../../../../test/support/context/people.ts'
import { agent } from '../../../../test/support/context/seed.ts'
import { readPlan } from '../../../../test/support/database/read-plan.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createApiKeySecret } from '../../values/api-key.ts'
import { parseCell } from '../../values/secret.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { createEmptyWorkspace } from '../workspaces/create-empty-workspace.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { ROTATION_GRACE_MS } from './api-key.ts'
import { createAgent } from '../agents/create-agent.ts'
import { authenticateKey } from './authenticate-key.ts'
import { issueKey } from './issue-key.ts'
import { findKey } from './queries.ts'
import { revokeKey } from './revoke-key.ts'
import { rotateKey } from './rotate-key.ts'
import { listKeySummaries } from './key-summaries-store.ts'
import { countKeyRequests, countUsableKeys, revokeKeysOfAgent } from './keys-store.ts'

describe('API keys', () => {
  let given: TestContext
  let workspace: Workspace
  before(async () => {
    given = await openTestContext()
    workspace = await createEmptyWorkspace(given.context, { name: 'Keys', plan: 'pro', actor: OPERATOR })
  })
  after(() => given.close())

  test('a key authenticates its workspace and mode, and the request is counted', async () => {
    const { secret } = await issue('live')
    const holder = await authenticate(secret)
    assert.equal(holder?.key.mode, 'live')
    assert.equal(holder.key.workspaceId, workspace.id)
    assert.deepEqual(holder.workspace, {
      slug: workspace.slug,
      name: 'Keys',
      plan: 'pro',
      createdBy: null,
      movingSince: null,
    })
    assert.equal(holder.rate.remaining, 59)
    assert.equal((await authenticate(secret))?.rate.remaining, 58)
  })

  test('a key that was never issued authenticates nobody', async () => {
    const countWindows = () => readRows(given.context.db, 'select count(*) from rate_windows')
    const before = await countWindows()
    for (const credential of [createApiKeySecret('test'), 'svc_test_', '', 'x'.repeat(8_192)]) {
      assert.equal(await authenticate(credential), null)
    }
    assert.deepEqual(await countWindows(), before, 'no window is added for it')
  })

  test('of requests with several keys and scopes at once, each gets its own result, and all are counted', async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, () => issue()))
    const revoked = await issue()
    await revokeKey(given.context, { ...revoked, actor: OPERATOR })
    const secrets = [...keys.map(({ secret }) => secret), revoked.secret, createApiKeySecret('test')]
    const asked = Array.from({ length: 30 }, () => secrets).flat()
    const answers = await Promise.all(asked.map((secret) => authenticate(secret)))
    for (const [index, { key, secret }] of keys.entries()) {
      const own = answers.filter((_, place) => asked[place] === secret)
      assert.deepEqual(new Set(own.map((answer) => answer?.key.id)), new Set([key.id]), `key ${index}`)
      const left = own.map((answer) => answer?.rate.remaining ?? -1).toSorted((one, other) => one - other)
      assert.deepEqual(
        left,
        Array.from({ length: 30 }, (_, place) => 30 + place),
      )
    }
    assert.ok(answers.every((answer, place) => (answer === null) === place % secrets.length >= keys.length))
  })

  test('listing reads few of the many keys that were revoked over the years', async () => {
    const now = given.clock.now()
    await readRows(
      given.context.db,
      `insert into api_keys (workspace_id, id, mode, secret_hash, last4, created_at, revoked_at)
        select $1, 'key_' || lpad(i::text, 26, '0'), 'test', sha256(i::text::bytea), 'abcd', $2, $2 from generate_series(1, 2000) i`,
      [workspace.id, now],
    )
    const counted = await readPlan(given.context.db, ['api_keys'], countUsableKeys(workspace.id, 'test', now))
    assert.match(counted, /using api_keys_not_revoked/)
    const bound = { workspaceId: workspace.id, mode: 'test', agentId: 'nobody' } as const
    const revoked = await readPlan(given.context.db, ['api_keys'], revokeKeysOfAgent(bound, now))
    assert.match(revoked, /using api_keys_not_revoked/)
    const request = { secretHash: Buffer.alloc(32), requiredScope: 'wallet:transfer', now } as const
    const counting = countKeyRequests('default', [request])
    const authenticated = await readPlan(given.context.db, ['api_keys'], counting)
    assert.match(authenticated, /using api_keys_by_secret_hash/)
    const listed = await readPlan(given.context.db, ['api_keys'], listKeySummaries(workspace.id, 'test', now, 100))
    assert.match(listed, /using api_keys_not_revoked[^]*Backward using api_keys_listed/)
  })

  test('a key carries the name of the cell that has created it, also after a rotation, and works in every cell (D95)', async () => {
    const cell = parseCell('eu1')
    const { secret } = await issueKey(
      { ...given.context, cell },
      { workspaceId: workspace.id, mode: 'test', actor: OPERATOR },
    )
    assert.match(secret, /^svc_test_eu1/)
    const rotated = await rotateKey({ ...given.context, cell }, { secret, actor: OPERATOR })
    assert.match(rotated.secret, /^svc_test_eu1/)
    for (const one of [secret, rotated.secret]) assert.equal((await authenticate(one))?.key.workspaceId, workspace.id)
  })

  test('a rotated key works for exactly 24 hours, and the new one has a new budget', async () => {
    const { secret } = await issue()
    await authenticate(secret)
    const at = given.clock.now().getTime()
    const frozen = { ...given.context, clock: { now: () => new Date(at) } }
    const rotated = await rotateKey(frozen, { secret, actor: OPERATOR })
    assert.equal(rotated.graceUntil.getTime(), at + ROTATION_GRACE_MS)
    assert.equal((await authenticate(rotated.secret))?.rate.remaining, 59)
    assert.equal((await authenticate(rotated.secret))?.key.graceUntil, null)
    const edge = async (milliseconds: number) =>
      authenticate(secret, { ...given.context, clock: { now: () => new Date(at + milliseconds) } })
    assert.deepEqual((await edge(ROTATION_GRACE_MS - 1))?.key.graceUntil, rotated.graceUntil)
    assert.equal(await edge(ROTATION_GRACE_MS), null)
  })

  test('a key can be rotated once: of ten concurrent rotations one succeeds, the others are 409', async () => {
    const { secret } = await issue()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => rotateKey(given.context, { secret, actor: OPERATOR })),
    )
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') assert.equal((outcome.reason as { code: string }).code, 'key_not_rotatable')
    }
  })

  test('the new key can be rotated again; a revoked or unknown one cannot', async () => {
    const { secret } = await rotateKey(given.context, { ...(await issue()), actor: OPERATOR })
    await rotateKey(given.context, { secret, actor: OPERATOR })
    const revoked = await issue()
    await revokeKey(given.context, { ...revoked, actor: OPERATOR })
    await assert.rejects(rotateKey(given.context, { ...revoked, actor: OPERATOR }), {
      status: 409,
      code: 'key_not_rotatable',
    })
    const unknown = { secret: createApiKeySecret('test') }
    await assert.rejects(rotateKey(given.context, { ...unknown, actor: OPERATOR }), {
      status: 409,
      code: 'key_not_rotatable',
    })
  })

  test('after a revocation, the next request on another process is rejected', async () => {
    const { secret } = await issue()
    const other = given.openAnother()
    for (const lane of [1, 2]) assert.ok((await authenticate(secret, other)) !== null, `lane ${lane}`)
    await revokeKey(given.context, { secret, actor: OPERATOR })
    for (const lane of [1, 2]) assert.equal(await authenticate(secret, other), null, `lane ${lane}`)
  })

  test('a rotated key can be revoked during its grace period, and the new one keeps working', async () => {
    const old = await issue()
    const { secret } = await rotateKey(given.context, { ...old, actor: OPERATOR })
    await revokeKey(given.context, { ...old, actor: OPERATOR })
    assert.equal(await authenticate(old.secret), null)
    assert.ok((await authenticate(secret)) !== null)
  })

  test('an unknown key cannot be revoked', async () => {
    await assert.rejects(revokeKey(given.context, { secret: createApiKeySecret('test'), actor: OPERATOR }), {
      status: 404,
    })
  })

  test('each change to a key writes one audit entry with the actor; a change without effect writes none', async () => {
    const told = await createEmptyWorkspace(given.context, { name: 'Told', plan: 'pro', actor: OPERATOR })
    const workspaceId = told.id
    const { userId } = await seedMember(given.context, told)
    const actor = { kind: 'user', id: userId, ...justProved(given.context) } as const
    const { key, secret } = await issueKey(given.context, { workspaceId, mode: 'live', name: 'Till', actor })
    const rotated = await rotateKey(given.context, { secret, actor })
    await assert.rejects(rotateKey(given.context, { secret, actor }))
    const revoke = () => revokeKey(given.context, { secret: rotated.secret, actor })
    await Promise.all([revoke(), revoke(), revoke()])
    await issueKey(given.context, { workspaceId, mode: 'test', actor: OPERATOR })
    const by = { actor_kind: 'user', actor_id: userId }
    const what = { mode: 'live', name: 'Till' }
    const rows = (await readAudit(given.context.db, workspaceId)).slice(1)
    assert.deepEqual(rows.slice(0, 3), [
      { ...by, action: 'key.issued', subject: key.id, details: what },
      { ...by, action: 'key.rotated', subject: key.id, details: { ...what, new_key: rotated.key.id } },
      { ...by, action: 'key.revoked', subject: rotated.key.id, details: what },
    ])
    assert.deepEqual([rows.length, rows[3]?.['actor_kind'], rows[3]?.['actor_id']], [4, 'operator', null])
  })

  test('a key that was made for one agent and some scopes keeps both, and the audit log names them', async () => {
    const { id: workspaceId } = await createEmptyWorkspace(given.context, {
      name: 'Bound',
      plan: 'pro',
      actor: OPERATOR,
    })
    const agentId = agent('bound')
    await createAgent(given.context, { workspaceId, mode: 'test', id: agentId, actor: OPERATOR })
    const options = {
      workspaceId,
      mode: 'test',
      agentId,
      scopes: ['wallet:read', 'x402:pay'],
      actor: OPERATOR,
    } as const
    const issued = await issueKey(given.context, options)
    const rotated = await rotateKey(given.context, { secret: issued.secret, actor: OPERATOR })
    await revokeKey(given.context, { secret: issued.secret, actor: OPERATOR })
    for (const { key, secret } of [issued, rotated]) {
      const found = await findKey(given.context, { secret })
      const { agentId: bound, scopes, last4 } = found ?? key
      assert.deepEqual([bound, scopes, last4], [agentId, ['wallet:read', 'x402:pay'], secret.slice(-4)])
    }
    const holder = await authenticate(rotated.secret)
    assert.deepEqual([holder?.key.agentId, holder?.scopes], [agentId, ['wallet:read', 'x402:pay']])
    const details = { mode: 'test', name: 'API key', agent_id: agentId, scopes: 'wallet:read x402:pay' }
    const rows = (await readAudit(given.context.db, workspaceId)).filter((row) => row['subject'] === issued.key.id)
    assert.deepEqual(
      rows.map((row) => [row['action'], row['details']]),
      [
        ['key.issued', details],
        ['key.rotated', { ...details, new_key: rotated.key.id }],
        ['key.revoked', details],
      ],
    )
  })

  test('a key for an agent that does not exist in its workspace and mode, or without a scope, is not created', async () => {
    const [own, other] = [
      await createEmptyWorkspace(given.context, { name: 'Own', plan: 'pro', actor: OPERATOR }),
      await createEmptyWorkspace(given.context, { name: 'Other', plan: 'pro', actor: OPERATOR }),
    ]
    const agentId = agent('elsewhere')
    await createAgent(given.context, { workspaceId: own.id, mode: 'live', id: agentId, actor: OPERATOR })
    await createAgent(given.context, { workspaceId: other.id, mode: 'test', id: agentId, actor: OPERATOR })
    const options = { workspaceId: own.id, mode: 'test', actor: OPERATOR } as const
    await assert.rejects(issueKey(given.context, { ...options, agentId }), { status: 404, code: 'agent_not_found' })
    await assert.rejects(issueKey(given.context, { ...options, scopes: [] }), {
      type: 'validation_failed',
      details: [{ path: 'scopes', message: '`scopes` must name at least one scope.' }],
    })
    const rows = 'select 1 from api_keys where workspace_id = $1'
    assert.deepEqual(await readRows(given.context.db, rows, [own.id]), [])
    const actions = (await readAudit(given.context.db, own.id)).map((row) => row['action'])
    assert.ok(!actions.includes('key.issued'))
  })

  test('the database rejects a restriction that is not valid', async () => {
    const { key } = await issue()
    for (const change of [
      `agent_id = 'nobody'`,
      `scopes = '{}'`,
      `scopes = '{wallet:read,admin}'`,
      `scopes = '{wallet:read,null}'`,
      `last4 = 'abc'`,
      `last4 = 'abc-'`,
    ]) {
      const update = readRows(given.context.db, `update api_keys set ${change} where id = $1`, [key.id])
      await assert.rejects(update, /violates (foreign key|check) constraint "api_keys_/, change)
    }
  })

  test('only the hash of a key is stored', async () => {
    const { secret } = await issue()
    const rows = await given.context.db.read({
      name: 'test_dump_keys',
      text: `select api_keys::text as row from api_keys union all select rate_windows::text from rate_windows
        union all select audit_entries::text from audit_entries`,
      values: [],
      read: (rows) => rows.map((row) => String(row['row'])),
    })
    assert.ok(rows.length > 0)
    for (const row of rows) {
      assert.ok(!row.includes(secret))
      assert.ok(!row.includes(Buffer.from(secret).toString('hex')))
    }
  })

  function issue(mode: 'test' | 'live' = 'test') {
    return issueKey(given.context, { workspaceId: workspace.id, mode, actor: OPERATOR })
  }

  function authenticate(credential: string, ctx: Pick<Context, 'db' | 'clock'> = given.context) {
    return authenticateKey(ctx, { credential, bucket: 'default', requiredScope: null })
  }
})
