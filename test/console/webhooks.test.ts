import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { EVENT_TYPES } from '../../server/src/domain/events/event.ts'
import { getEndpoint } from '../../server/src/domain/webhooks/queries.ts'
import { readAudit } from '../support/context/audit.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { announce } from '../support/context/delivery-rows.ts'
import { expectError } from '../support/http-client.ts'
import { seedDelivery } from '../support/context/webhook-rows.ts'
import { URL_OF_HOOK, WebhookDesk, type WireWebhook } from './webhook-desk.ts'

const NO_WEBHOOK = { type: 'not_found', code: 'webhook_not_found' } as const
const NO_DELIVERY = { type: 'not_found', code: 'delivery_not_found' } as const

/** Owners manage webhook endpoints and their deliveries, within the limits (D45). */
describe('a webhook endpoint in the dashboard', () => {
  let server: ConsoleServer
  let fixture: WebhookDesk
  before(async () => {
    server = await openConsoleServer()
  })
  beforeEach(async () => {
    fixture = await WebhookDesk.open(server)
  })
  after(() => server.close())

  test('is created with a secret that is shown once, and is listed without it', async () => {
    const events = ['payment.failed', 'payment.confirmed']
    const made = await fixture.browser.call('POST', fixture.at('webhooks'), { mode: 'test', url: URL_OF_HOOK, events })
    const { webhook } = JSON.parse(made.text) as { webhook: Record<string, string> }
    assert.equal(made.status, 201)
    assert.match(String(webhook['id']), /^whk_[0-9A-HJKMNP-TV-Z]{26}$/)
    assert.match(String(webhook['secret']), /^whsec_[0-9A-Za-z]{40,}$/)
    const { secret, ...rest } = webhook
    assert.deepEqual(rest, {
      id: webhook['id'],
      mode: 'test',
      url: URL_OF_HOOK,
      events: ['payment.confirmed', 'payment.failed'],
      status: 'enabled',
      disabled_because: null,
      failing_since: null,
      created_at: webhook['created_at'],
    })
    const listed = await fixture.browser.call('GET', `${fixture.at('webhooks')}?mode=test`)
    assert.deepEqual(JSON.parse(listed.text), { webhooks: [rest] })
    const alone = await fixture.browser.call('GET', fixture.at(`webhooks/${webhook['id']}`))
    assert.deepEqual(JSON.parse(alone.text), { webhook: rest })
    for (const { text } of [listed, alone]) assert.ok(!text.includes(String(secret)))
  })

  test('belongs to one mode', async () => {
    const ours = await fixture.create({ mode: 'test' })
    const live = await fixture.create({ mode: 'live' })
    assert.deepEqual([await listIds('test'), await listIds('live')], [[ours.id], [live.id]])
  })

  test('can be changed in one field, and the others stay', async () => {
    const { secret: _, ...made } = await fixture.create()
    const moved = { ...made, url: 'https://hooks.example/other' }
    assert.deepEqual(await fixture.change(made.id, { url: moved.url }), moved)
    const narrowed = { ...moved, events: ['inbound.received'] }
    assert.deepEqual(await fixture.change(made.id, { events: ['inbound.received'] }), narrowed)
    const off = { ...narrowed, status: 'disabled', disabled_because: 'owner' }
    assert.deepEqual(await fixture.change(made.id, { enabled: false }), off)
    assert.deepEqual(await fixture.change(made.id, {}), off)
    const on = { ...moved, events: [...EVENT_TYPES] }
    assert.deepEqual(await fixture.change(made.id, { enabled: true, events: on.events }), on)
    assert.deepEqual(await fixture.list(), [on])
  })

  test('gets a new secret by rotation, which is shown once too', async () => {
    const { secret, ...made } = await fixture.create()
    const path = fixture.at(`webhooks/${made.id}/rotate-secret`)
    const { webhook } = await fixture.browser.ask<{ webhook: WireWebhook }>('POST', path, {})
    const { secret: fresh, ...rest } = webhook
    assert.match(String(fresh), /^whsec_[0-9A-Za-z]{40,}$/)
    assert.notEqual(fresh, secret)
    assert.deepEqual(rest, made)
    await announce(server.context, fixture.workspace)
    assert.deepEqual((await fixture.claim()).secrets, [fresh, secret])
  })

  test('is deleted, and its waiting deliveries are canceled', async () => {
    const endpoint = await fixture.createEndpoint()
    const { id } = endpoint
    const delivery = await seedDelivery(server.context, endpoint)
    assert.deepEqual(await fixture.browser.ask('DELETE', fixture.at(`webhooks/${id}`)), {})
    assert.deepEqual(await fixture.list(), [])
    for (const [method, path, body] of waysTo(id)) await fixture.browser.refuse(method, path, NO_WEBHOOK, body)
    const { deliveries } = await fixture.readLog()
    assert.deepEqual(
      deliveries.map(({ id: found, status }) => [found, status]),
      [[delivery.id, 'canceled']],
    )
  })

  test('is rejected if events may not be sent to its URL, and so is a change to such a URL', async () => {
    const { id } = await fixture.create()
    const urls = [
      ...['http://hooks.example/in', 'ftp://hooks.example', 'hooks.example', 'https://127.0.0.1/in'],
      ...[
        'https://localhost/in',
        'https://169.254.169.254/latest',
        'https://[::1]/',
        'https://10.0.0.1',
        'https://0x7f.1/',
      ],
      ...[
        'https://user:pass@hooks.example',
        'https://hooks.example/#x',
        'https://hooks.example:8443',
        'https://metadata.internal',
      ],
    ]
    for (const url of urls) {
      const refusal = { type: 'validation_failed', code: 'url_not_allowed' } as const
      const answers = [
        await fixture.browser.call('POST', fixture.at('webhooks'), { mode: 'test', url, events: ['payment.created'] }),
        await fixture.browser.call('PATCH', fixture.at(`webhooks/${id}`), { url }),
      ]
      for (const answer of answers) {
        expectError(answer, refusal)
        assert.ok(!answer.text.includes(url), url)
      }
    }
    assert.deepEqual(await listIds('test'), [id])
  })

  test('is one of at most 20 in each mode', async () => {
    for (let index = 0; index < 20; index += 1) await fixture.create()
    const body = { mode: 'test', url: URL_OF_HOOK, events: ['payment.created'] }
    await fixture.browser.refuse(
      'POST',
      fixture.at('webhooks'),
      { type: 'conflict', code: 'endpoint_limit_reached' },
      body,
    )
    await fixture.create({ mode: 'live' })
  })

  test('of another workspace, or with an unknown id, is not found', async () => {
    const other = await WebhookDesk.open(server)
    const endpoint = await other.createEndpoint()
    const { id } = endpoint
    const delivery = await seedDelivery(server.context, endpoint)
    for (const odd of [id, 'x', 'whk_', id.toLowerCase(), `${id}0`, '%00', '%F0%9F%8D%9C', delivery.id]) {
      for (const [method, path, body] of waysTo(odd)) await fixture.browser.refuse(method, path, NO_WEBHOOK, body)
    }
    for (const odd of [delivery.id, 'x', 'dlv_', delivery.id.toLowerCase(), '%00', id]) {
      await fixture.browser.refuse('GET', fixture.at(`deliveries/${odd}`), NO_DELIVERY)
      await fixture.browser.refuse('POST', fixture.at(`deliveries/${odd}/replay`), NO_DELIVERY, {})
    }
    assert.deepEqual((await fixture.readLog(`webhook=${id}`)).deliveries, [])
    assert.equal((await getEndpoint(server.context, { workspaceId: other.workspace.id, id })).url, URL_OF_HOOK)
  })

  test('has its changes in the audit log, with who made them and without secrets', async () => {
    const { id, secret } = await fixture.create()
    await fixture.change(id, { enabled: false })
    await fixture.change(id, { enabled: true })
    const { webhook } = await fixture.browser.ask<{ webhook: WireWebhook }>(
      'POST',
      fixture.at(`webhooks/${id}/rotate-secret`),
      {},
    )
    const delivery = await seedDelivery(
      server.context,
      await getEndpoint(server.context, { workspaceId: fixture.workspace.id, id }),
    )
    await fixture.browser.ask('POST', fixture.at(`webhooks/${id}/test`), {}, 201)
    await fixture.browser.ask('POST', fixture.at(`deliveries/${delivery.id}/replay`), {}, 201)
    await fixture.browser.ask('DELETE', fixture.at(`webhooks/${id}`))
    const rows = (await readAudit(server.context.db, fixture.workspace.id)).filter((row) =>
      String(row['action']).startsWith('webhook.'),
    )
    assert.deepEqual(
      rows.map((row) => row['action']),
      [
        ...['webhook.created', 'webhook.changed', 'webhook.changed', 'webhook.secret_rotated'],
        ...['webhook.tested', 'webhook.replayed', 'webhook.deleted'],
      ],
    )
    for (const row of rows) assert.deepEqual([row['actor_kind'], row['actor_id']], ['user', fixture.userId])
    for (const shown of [secret, webhook.secret]) assert.ok(!JSON.stringify(rows).includes(String(shown)))
  })

  async function listIds(mode: string): Promise<string[]> {
    return (await fixture.list(mode)).map(({ id }) => id)
  }

  /** Lists a request for each action on an endpoint. */
  function waysTo(id: string): readonly (readonly [string, string, object?])[] {
    const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', only: 'all' }
    return [
      ['GET', fixture.at(`webhooks/${id}`)],
      ['PATCH', fixture.at(`webhooks/${id}`), { enabled: true }],
      ['POST', fixture.at(`webhooks/${id}/rotate-secret`), {}],
      ['POST', fixture.at(`webhooks/${id}/test`), {}],
      ['POST', fixture.at(`webhooks/${id}/replay`), range],
      ['DELETE', fixture.at(`webhooks/${id}`)],
    ]
  }
})
