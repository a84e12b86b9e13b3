import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { listAuditActions, readAudit } from '../../../../test/support/context/audit.ts'
import { announce, makeWorkspace, makeEndpoint, RECEIVER_URL } from '../../../../test/support/context/delivery-rows.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createId } from '../../values/ids.ts'
import { isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { EVENT_TYPES } from '../events/event.ts'
import { changeEndpoint } from './change-endpoint.ts'
import { createEndpoint } from './create-endpoint.ts'
import { deleteEndpoint } from './delete-endpoint.ts'
import { ENDPOINTS_MAX } from './endpoint.ts'
import { getEndpoint, listEndpoints } from './queries.ts'
import { replayDelivery } from './replay-delivery.ts'
import { rotateSecret } from './rotate-secret.ts'
import { sendTestEvent } from './send-test-event.ts'

/** An actor whose proof is always recent. */
const ADA = { kind: 'user', id: 'usr_ada', verifiedAt: new Date('2999-01-01T00:00:00Z') } as const
const NOT_FOUND = { status: 404, code: 'webhook_not_found' }

describe('webhook endpoints', () => {
  let given: TestContext
  let ctx: Context
  let workspace: Workspace
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  beforeEach(async () => {
    workspace = await makeWorkspace(ctx)
  })
  after(() => given.close())

  test('an endpoint is created enabled, with a secret that is shown once', async () => {
    const events = ['payment.failed', 'payment.confirmed', 'payment.failed']
    const { endpoint, secret } = await makeEndpoint(ctx, workspace, { events })
    assert.ok(isSecret(SECRET_PREFIXES.webhook, secret))
    assert.deepEqual(
      { ...endpoint, id: '', createdAt: null },
      {
        id: '',
        workspaceId: workspace.id,
        mode: 'test',
        url: RECEIVER_URL,
        events: ['payment.confirmed', 'payment.failed'],
        createdAt: null,
        failingSince: null,
        disabledAt: null,
        disabledBecause: null,
      },
    )
    assert.deepEqual(await getEndpoint(ctx, { workspaceId: workspace.id, id: endpoint.id }), endpoint)
    assert.deepEqual(await listEndpoints(ctx, { workspaceId: workspace.id, mode: 'test' }), [endpoint])
  })

  const urls = [
    'http://receiver.example/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://0x7f.1/',
    'https://169.254.169.254/',
    'https://user:pass@receiver.example/',
    'https://receiver.example/#x',
    'https://receiver.example:8443/',
    'ftp://receiver.example/',
    'receiver.example',
    '',
    `https://receiver.example/${'x'.repeat(2_048)}`,
  ]
  for (const url of urls) {
    test(`no endpoint can be created at, or changed to, ${url.slice(0, 60)}`, async () => {
      const refused = { status: 400, code: 'url_not_allowed' }
      await assert.rejects(makeEndpoint(ctx, workspace, { url }), refused)
      const { endpoint } = await makeEndpoint(ctx, workspace)
      await assert.rejects(
        changeEndpoint(ctx, { workspaceId: workspace.id, id: endpoint.id, change: { url }, actor: OPERATOR }),
        refused,
      )
      assert.equal((await getEndpoint(ctx, { workspaceId: workspace.id, id: endpoint.id })).url, RECEIVER_URL)
    })
  }

  test('an endpoint subscribes to known event types: an empty list, unknown types and test events are rejected', async () => {
    const { endpoint } = await makeEndpoint(ctx, workspace)
    for (const events of [[], ['payment.made'], ['payment.created', 'webhook.test'], ['']]) {
      await assert.rejects(makeEndpoint(ctx, workspace, { events }), { status: 400 })
      const change = { events }
      await assert.rejects(
        changeEndpoint(ctx, { workspaceId: workspace.id, id: endpoint.id, change, actor: OPERATOR }),
        {
          status: 400,
        },
      )
    }
    assert.deepEqual((await listEndpoints(ctx, { workspaceId: workspace.id, mode: 'test' })).length, 1)
  })

  test('a workspace has at most 20 endpoints in each mode, even if they are created concurrently; deleted ones do not count', async () => {
    await openConnections(ctx.db)
    const make = () => makeEndpoint(ctx, workspace)
    const made = await Promise.allSettled(Array.from({ length: ENDPOINTS_MAX + 5 }, make))
    const codes = made.map((one) => (one.status === 'fulfilled' ? 'made' : (one.reason as { code: string }).code))
    assert.equal(codes.filter((code) => code === 'made').length, ENDPOINTS_MAX)
    assert.equal(codes.filter((code) => code === 'endpoint_limit_reached').length, 5)
    await makeEndpoint(ctx, workspace, { mode: 'live' })
    const [first] = await listEndpoints(ctx, { workspaceId: workspace.id, mode: 'test' })
    await deleteEndpoint(ctx, { workspaceId: workspace.id, id: first?.id ?? '', actor: OPERATOR })
    await make()
    await assert.rejects(make(), { status: 409, code: 'endpoint_limit_reached' })
  })

  test('endpoints are listed by mode, oldest first', async () => {
    const made = []
    for (let index = 0; index < 3; index += 1) made.push((await makeEndpoint(ctx, workspace)).endpoint.id)
    await makeEndpoint(ctx, workspace, { mode: 'live' })
    const listed = await listEndpoints(ctx, { workspaceId: workspace.id, mode: 'test' })
    assert.deepEqual(
      listed.map(({ id }) => id),
      made.toSorted(),
    )
  })

  test('each field is changed on its own, and setting the same value is no change', async () => {
    const { endpoint } = await makeEndpoint(ctx, workspace)
    const change = (changes: Parameters<typeof changeEndpoint>[1]['change']) =>
      changeEndpoint(ctx, { workspaceId: workspace.id, id: endpoint.id, change: changes, actor: ADA })
    const moved = await change({ url: 'https://other.example/x' })
    assert.deepEqual(moved, { ...endpoint, url: 'https://other.example/x' })
    const narrowed = await change({ events: ['inbound.received'] })
    assert.deepEqual(narrowed, { ...moved, events: ['inbound.received'] })
    const disabled = await change({ enabled: false })
    assert.equal(disabled.disabledBecause, 'owner')
    assert.deepEqual(await change({ enabled: false }), disabled)
    assert.deepEqual(await change({}), disabled)
    assert.deepEqual(await change({ enabled: true, events: ['inbound.received'] }), narrowed)
    assert.deepEqual(await getEndpoint(ctx, { workspaceId: workspace.id, id: endpoint.id }), narrowed)
    assert.equal((await listAuditActions(ctx.db, workspace.id)).filter((one) => one === 'webhook.changed').length, 4)
  })

  test('a deleted endpoint is gone, and its pending deliveries are canceled', async () => {
    const { endpoint } = await makeEndpoint(ctx, workspace)
    const other = await makeEndpoint(ctx, workspace)
    await announce(ctx, workspace)
    const subject = { workspaceId: workspace.id, id: endpoint.id }
    await deleteEndpoint(ctx, { ...subject, actor: OPERATOR })
    const rows = await readRows(
      ctx.db,
      `select endpoint_id, status, finished_at is null as is_open from deliveries
        where workspace_id = $1 order by endpoint_id = $2 desc`,
      [workspace.id, endpoint.id],
    )
    assert.deepEqual(rows, [
      { endpoint_id: endpoint.id, status: 'canceled', is_open: false },
      { endpoint_id: other.endpoint.id, status: 'pending', is_open: true },
    ])
    assert.deepEqual(await listEndpoints(ctx, { workspaceId: workspace.id, mode: 'test' }), [other.endpoint])
    await assert.rejects(getEndpoint(ctx, subject), NOT_FOUND)
    await assert.rejects(deleteEndpoint(ctx, { ...subject, actor: OPERATOR }), NOT_FOUND)
    await assert.rejects(changeEndpoint(ctx, { ...subject, change: { enabled: false }, actor: OPERATOR }), NOT_FOUND)
    await assert.rejects(rotateSecret(ctx, { ...subject, actor: OPERATOR }), NOT_FOUND)
    await assert.rejects(sendTestEvent(ctx, { ...subject, actor: OPERATOR }), NOT_FOUND)
    const deliveryId = await deliveryOf(endpoint.id)
    await assert.rejects(replayDelivery(ctx, { workspaceId: workspace.id, deliveryId, actor: OPERATOR }), NOT_FOUND)
    const [row] = await readRows(
      ctx.db,
      'select length(secret_sealed) as secret, previous_secret_sealed from webhook_endpoints where id = $1',
      [endpoint.id],
    )
    assert.deepEqual(row, { secret: 0, previous_secret_sealed: null })
  })

  test('an endpoint of another workspace, or one that never existed, is not found', async () => {
    const { endpoint } = await makeEndpoint(ctx, workspace)
    const other = await makeWorkspace(ctx)
    for (const subject of [
      { workspaceId: other.id, id: endpoint.id },
      { workspaceId: workspace.id, id: createId('endpoint', ctx.clock.now()) },
      { workspaceId: workspace.id, id: 'whk_' },
      { workspaceId: workspace.id, id: '' },
    ]) {
      await assert.rejects(getEndpoint(ctx, subject), NOT_FOUND)
      await assert.rejects(changeEndpoint(ctx, { ...subject, change: { enabled: false }, actor: OPERATOR }), NOT_FOUND)
      await assert.rejects(rotateSecret(ctx, { ...subject, actor: OPERATOR }), NOT_FOUND)
      await assert.rejects(sendTestEvent(ctx, { ...subject, actor: OPERATOR }), NOT_FOUND)
      await assert.rejects(deleteEndpoint(ctx, { ...subject, actor: OPERATOR }), NOT_FOUND)
    }
    assert.deepEqual(await listEndpoints(ctx, { workspaceId: other.id, mode: 'test' }), [])
    assert.deepEqual(await getEndpoint(ctx, { workspaceId: workspace.id, id: endpoint.id }), endpoint)
  })

  test('secrets are stored only encrypted, and can be decrypted only for their own endpoint', async () => {
    const first = await makeEndpoint(ctx, workspace)
    const second = await makeEndpoint(ctx, workspace)
    const rotated = await rotateSecret(ctx, { workspaceId: workspace.id, id: first.endpoint.id, actor: OPERATOR })
    assert.notEqual(rotated.secret, first.secret)
    await announce(ctx, workspace)
    const tables = ['webhook_endpoints', 'deliveries', 'delivery_attempts', 'events', 'audit_entries']
    const dump = (
      await Promise.all(tables.map((table) => readRows(ctx.db, `select ${table}::text as row from ${table}`)))
    )
      .flat()
      .map((row) => String(row['row']))
    assert.ok(dump.length > 5)
    const shown = [
      await getEndpoint(ctx, { workspaceId: workspace.id, id: first.endpoint.id }),
      await listEndpoints(ctx, { workspaceId: workspace.id, mode: 'test' }),
      await changeEndpoint(ctx, {
        workspaceId: workspace.id,
        id: first.endpoint.id,
        change: { enabled: false },
        actor: OPERATOR,
      }),
      first.endpoint,
      rotated.endpoint,
    ]
    const told = [...dump, JSON.stringify(shown)]
    for (const secret of [first.secret, second.secret, rotated.secret]) {
      for (const text of told) {
        assert.ok(!text.includes(secret))
        assert.ok(!text.includes(Buffer.from(secret).toString('hex')))
      }
    }
    const sealed = await readRows(ctx.db, 'select id, secret_sealed from webhook_endpoints where workspace_id = $1', [
      workspace.id,
    ])
    const bytes = new Set(sealed.map((row) => (row['secret_sealed'] as Buffer).toString('hex')))
    assert.equal(bytes.size, 2)
    const stolen = sealed.find((row) => row['id'] === first.endpoint.id)?.['secret_sealed'] as Buffer
    const contextOfSecond = JSON.stringify(['webhook secret', workspace.id, second.endpoint.id])
    assert.throws(() => ctx.sealer.open(stolen, contextOfSecond))
  })

  test('each change of an endpoint writes one audit entry, with the actor and only the host of a URL', async () => {
    const url = 'https://receiver.example/their-secret-path'
    const request = { workspaceId: workspace.id, mode: 'live', url, events: EVENT_TYPES, actor: ADA } as const
    const at = (seconds: number) => later(ctx, seconds * 1_000)
    const { endpoint } = await createEndpoint(ctx, request)
    const subject = { workspaceId: workspace.id, id: endpoint.id, actor: ADA }
    const changed = { url: 'https://second.example/x', events: ['payment.failed'] }
    await changeEndpoint(at(1), { ...subject, change: changed })
    await changeEndpoint(at(2), { ...subject, change: { enabled: false } })
    await changeEndpoint(at(3), { ...subject, change: { enabled: true } })
    await rotateSecret(at(4), subject)
    await sendTestEvent(at(5), subject)
    await deleteEndpoint(at(6), subject)
    const by = { actor_kind: 'user', actor_id: 'usr_ada', subject: endpoint.id }
    const rows = (await readAudit(ctx.db, workspace.id)).slice(1)
    const live = { mode: 'live' }
    assert.deepEqual(rows, [
      { ...by, action: 'webhook.created', details: { ...live, host: 'receiver.example', events: [...EVENT_TYPES] } },
      { ...by, action: 'webhook.changed', details: { ...live, host: 'second.example', events: ['payment.failed'] } },
      { ...by, action: 'webhook.changed', details: { ...live, enabled: false } },
      { ...by, action: 'webhook.changed', details: { ...live, enabled: true } },
      { ...by, action: 'webhook.secret_rotated', details: live },
      { ...by, action: 'webhook.tested', details: live },
      { ...by, action: 'webhook.deleted', details: { ...live, host: 'second.example' } },
    ])
  })

  async function deliveryOf(endpointId: string): Promise<string> {
    const rows = await readRows(ctx.db, 'select id from deliveries where workspace_id = $1 and endpoint_id = $2', [
      workspace.id,
      endpointId,
    ])
    return String(rows[0]?.['id'])
  }
})
