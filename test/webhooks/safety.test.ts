import assert from 'node:assert/strict'
import { createServer as createTlsServer } from 'node:https'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { Workspace } from '../../server/src/domain/workspaces/workspace.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import type { Context } from '../../server/src/domain/context.ts'
import { changeEndpoint } from '../../server/src/domain/webhooks/change-endpoint.ts'
import { createEndpoint } from '../../server/src/domain/webhooks/create-endpoint.ts'
import type { AttemptError } from '../../server/src/domain/webhooks/delivery.ts'
import { createHostResolver } from '../../server/src/lib/outbound/resolve-host.ts'
import { announce, makeWorkspace } from '../support/context/delivery-rows.ts'
import { startFakeDns, type FakeDns } from '../support/wires/fake-dns.ts'
import { readRows } from '../support/database/read-rows.ts'
import { startReceiver } from '../support/wires/receiver.ts'
import { createSelfSigned } from '../support/wires/self-signed.ts'
import { openSenderFixture, type SenderFixture } from '../support/context/sender-fixture.ts'

const PUBLIC = '93.184.216.34'

// `allowed-address.test.ts` and `check-url.test.ts` test each address and spelling, and `agents.test.ts` tests each
// kind of connection.

describe('the addresses to which events may be sent', () => {
  let sending: SenderFixture
  let ctx: Context
  let workspace: Workspace
  let dns: FakeDns
  before(async () => {
    sending = await openSenderFixture()
    ctx = sending.ctx
    dns = await startFakeDns({
      'private.example': { A: ['10.0.0.1'] },
      'metadata.example': { A: ['169.254.169.254'] },
      'mixed.example': { A: [PUBLIC, '192.168.0.1'] },
      'six.example': { A: [PUBLIC], AAAA: ['fd00:ec2::254'] },
      'only-six.example': { AAAA: ['::1'] },
      'translated.example': { AAAA: ['64:ff9b::a9fe:a9fe'] },
      'mapped.example': { AAAA: ['::ffff:7f00:1'] },
      'alias.example': { cname: 'inside.example', A: ['127.0.0.1'] },
      'broken.example': 'SERVFAIL',
      'empty.example': {},
    })
  })
  beforeEach(async () => {
    workspace = await makeWorkspace(ctx)
  })
  afterEach(() => sending.reset())
  after(async () => {
    await sending.close()
    await dns.close()
  })

  /** Sends an event to the URL under the policy of production. Returns the error of the first attempt. */
  async function attemptAt(url: string): Promise<AttemptError | null | undefined> {
    const strict = {
      ...ctx,
      outbound: { ...ctx.outbound, allowLoopback: false, resolve: createHostResolver([dns.server]) },
    }
    const { endpoint } = await createEndpoint(ctx, {
      workspaceId: workspace.id,
      mode: 'test',
      url,
      events: ['payment.failed'],
      actor: OPERATOR,
    })
    const event = await announce(ctx, workspace, { type: 'payment.failed' })
    const sender = sending.startSender({ ctx: strict })
    const { attempts } = await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts > 0)
    await sender.stop()
    await changeEndpoint(ctx, {
      workspaceId: workspace.id,
      id: endpoint.id,
      change: { enabled: false },
      actor: OPERATOR,
    })
    return attempts[0]?.error
  }

  test('exclude a host name if any of its addresses is not public', async () => {
    for (const name of ['private', 'metadata', 'mixed', 'six', 'only-six', 'translated', 'mapped', 'alias']) {
      assert.equal(await attemptAt(`https://${name}.example/`), 'blocked_address', name)
    }
  })

  test('exclude a host name that does not resolve', async () => {
    for (const name of ['missing', 'broken', 'empty']) {
      assert.equal(await attemptAt(`https://${name}.example/`), 'dns_error', name)
    }
  })

  test('exclude a URL that was allowed when it was registered, and is not allowed any more', async () => {
    const { receiver } = await sending.subscribe(workspace)
    assert.equal(await attemptAt(receiver.url), 'blocked_address')
    assert.equal(await attemptAt(receiver.url.replace('localhost', '127.0.0.1')), 'blocked_address')
    assert.equal(receiver.received.length, 0)
  })

  test('exclude a server without a valid certificate for its name, and include one with it', async (t) => {
    const trusted = createSelfSigned('localhost')
    const expired = createSelfSigned('localhost', { until: '210101000000Z' })
    const other = createSelfSigned('other.example')
    const usual = getCACertificates('default')
    setDefaultCACertificates([...usual, trusted.cert, expired.cert, other.cert])
    t.after(() => setDefaultCACertificates(usual))
    sending.startSender()
    for (const [pair, error] of [
      [createSelfSigned('localhost'), 'tls_error'],
      [expired, 'tls_error'],
      [other, 'tls_error'],
      [trusted, null],
    ] as const) {
      const receiver = await startReceiver((listener) => createTlsServer(pair, listener))
      t.after(() => receiver.close())
      const wanted = { workspaceId: workspace.id, mode: 'test', url: receiver.url, events: ['payment.failed'] } as const
      const { endpoint } = await createEndpoint(ctx, { ...wanted, actor: OPERATOR })
      const event = await announce(ctx, workspace, { type: 'payment.failed' })
      const { attempts } = await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts > 0)
      assert.equal(attempts[0]?.error, error)
      assert.equal(receiver.received.length, error === null ? 1 : 0)
    }
  })

  test('exclude our own, when an endpoint is created, when it is changed, and when an event is sent', async () => {
    const { baseUrl, authUrl } = sending.given.config
    for (const origin of [
      baseUrl,
      authUrl,
      baseUrl.replace('localhost', '127.0.0.1'),
      authUrl.replace('localhost', '[::1]'),
    ]) {
      const wanted = {
        workspaceId: workspace.id,
        mode: 'test',
        url: `${origin}/v1/payments`,
        events: ['payment.failed'],
      } as const
      await assert.rejects(createEndpoint(ctx, { ...wanted, actor: OPERATOR }), { code: 'url_not_allowed' })
    }
    const { endpoint, receiver } = await sending.subscribe(workspace)
    const change = { url: `${baseUrl}/` }
    await assert.rejects(changeEndpoint(ctx, { workspaceId: workspace.id, id: endpoint.id, change, actor: OPERATOR }), {
      code: 'url_not_allowed',
    })
    // The receiver's address now counts as one of our own. This can happen: an address that somebody else used
    // yesterday may be ours today.
    const ours = { ...ctx, outbound: { ...ctx.outbound, ownOrigins: [new URL(receiver.url).origin] } }
    const event = await announce(ctx, workspace)
    sending.startSender({ ctx: ours })
    const { attempts } = await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts > 0)
    assert.equal(attempts[0]?.error, 'blocked_address')
    assert.equal(receiver.received.length, 0)
  })

  test('a delivery causes no further event', async () => {
    const { receiver, endpoint } = await sending.subscribe(workspace)
    receiver.reply(410)
    sending.startSender()
    const event = await announce(ctx, workspace)
    await sending.logWhen(endpoint, event, ({ delivery }) => delivery.attempts > 0)
    await sending.lookedAround()
    for (const table of ['events', 'deliveries']) {
      const rows = await readRows(ctx.db, `select 1 from ${table} where workspace_id = $1`, [workspace.id])
      assert.equal(rows.length, 1, table)
    }
  })
})
