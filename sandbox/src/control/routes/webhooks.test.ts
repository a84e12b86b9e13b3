import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { after, before, beforeEach, describe, it } from 'node:test'
import { startFakeServer, type FakeServer } from '../../../../test/support/wires/fake-server.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { createClient, textAt, type Body, type Client } from '../../demo/http-client.ts'
import type { ThrowAwaySandbox } from '../../throw-away-sandbox.ts'
import { openControlSandbox } from '../../../../test/support/sandbox/control-sandbox.ts'

const SHOP = '0x52908400098527886E0F7030069857D2E4169EE7'
const ARRIVAL_MS_MAX = 30_000
/** The delays between two attempts of a delivery (specification, part 6). */
const GAPS_SECONDS = [60, 300, 900, 3_600, 21_600]

interface WireEvent {
  readonly id: string
  readonly type: string
  readonly mode: string
  readonly account_slug: string
  readonly data: Body
}

interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly event: WireEvent
}

interface WireDelivery {
  readonly id: string
  readonly event_id: string
  readonly event_type: string
  readonly webhook_id: string
  readonly status: string
  readonly next_attempt_at: string | null
  readonly attempts: readonly { at: string; status_code: number | null; error: string | null; duration_ms: number }[]
}

describe('webhooks of the control API', () => {
  let sandbox: ThrowAwaySandbox
  let control: Client
  let receiver: FakeServer
  let answer: number
  const received: Received[] = []
  before(async () => {
    sandbox = await openControlSandbox()
    control = createClient(sandbox.facts.control_url)
    receiver = await startFakeServer((request, body, response) => {
      const event = JSON.parse(body) as WireEvent
      received.push({ path: request.url ?? '', headers: request.headers, body, event })
      response.writeHead(answer).end('noted')
    })
  })
  beforeEach(() => {
    answer = 200
    received.length = 0
  })
  after(() => receiver.close())

  it('receive the events of a payment, when it is created and confirmed, with a valid signature', async () => {
    const slug = await makeSpender()
    const webhook = await listen(slug, '/shop', { events: ['payment.created', 'payment.confirmed'] })
    const payment = await pay(slug)
    await arrived(2)
    assert.deepEqual(typesReceived(), ['payment.confirmed', 'payment.created'])
    for (const { path, headers, body, event } of received) {
      assert.equal(path, '/shop')
      const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['service-signature'])) ?? []
      assert.equal(signature, createHmac('sha256', webhook.secret).update(`${time}.${body}`).digest('hex'))
      assert.ok(Math.abs(Number(time) * 1_000 - (await readNow())) < 30_000)
      assert.deepEqual(
        [headers['service-event-id'], headers['service-event-type'], headers['service-delivery-attempt']],
        [event.id, event.type, '1'],
      )
      const read = await createClient(sandbox.facts.base_url, keys.get(slug)).get(`/v1/events/${event.id}`)
      assert.equal(JSON.stringify(read.body['event']), body, 'what the API answers is what was sent')
      assert.equal(textAt(event.data, 'payment.id'), payment)
    }
    await settled(slug)
    const deliveries = await readDeliveries(slug)
    assert.equal(deliveries.length, 2)
    for (const delivery of deliveries) {
      const { at, duration_ms: durationMs, ...outcome } = delivery.attempts[0] ?? { at: '', duration_ms: -1 }
      assert.deepEqual(
        { ...delivery, attempts: [outcome] },
        {
          id: delivery.id,
          event_id: delivery.event_id,
          event_type: delivery.event_type,
          webhook_id: webhook.id,
          status: 'succeeded',
          next_attempt_at: null,
          attempts: [{ status_code: 200, error: null }],
        },
      )
      assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000 && durationMs >= 0)
    }
    assert.deepEqual(deliveries.map((delivery) => delivery.event_id).toSorted(), idsReceived())
  })

  it('receive events about grants and deposits, only of their own mode and workspace', async () => {
    const slug = await makeSpender()
    const other = await makeSpender()
    await listen(slug, '/test')
    await listen(slug, '/live', { mode: 'live' })
    await listen(other, '/other')
    const made = await control.post(`/workspaces/${slug}/wallets`, { mode: 'test', fund_usdc: '7' })
    const wallet = textAt(made.body, 'wallet.address')
    const terms = { mode: 'test', agent_id: 'a', wallet, max_per_tx_usdc: '1', daily_cap_usdc: '1' }
    const granted = await control.post(`/workspaces/${slug}/grants`, terms)
    await control.post(`/grants/${textAt(granted.body, 'grant.id')}/revoke`, {})
    const depositOf = (amount: string): Received | undefined =>
      received.find(({ event }) => textAt(event.data, 'deposit.amount_usdc') === amount)
    const types = (): string[] => received.filter(({ path }) => path === '/test').map(({ event }) => event.type)
    await waitFor('the grant', () => types().includes('permission.revoked'), ARRIVAL_MS_MAX)
    await waitFor('the deposit', () => depositOf('7'), ARRIVAL_MS_MAX)
    assert.deepEqual(new Set(types()), new Set(['inbound.received', 'permission.granted', 'permission.revoked']))
    assert.deepEqual(
      [depositOf('7')?.path, textAt(depositOf('7')?.event.data ?? {}, 'deposit.wallet')],
      ['/test', wallet],
    )
    // The first wallet of each workspace was funded before the workspace's endpoints existed. The service may find that
    // deposit only afterwards, so the endpoints may receive an event about it too.
    for (const { path, event } of received) {
      assert.deepEqual([event.mode, event.account_slug], ['test', path === '/test' ? slug : other])
    }
  })

  it('get six attempts within seven and a half hours of the clock, and then a replay arrives', async () => {
    const slug = await makeSpender()
    const webhook = await listen(slug, '/flaky', { events: ['payment.created'] })
    answer = 503
    await pay(slug)
    for (const [index, gap] of GAPS_SECONDS.entries()) {
      const delivery = await awaitAttempts(slug, index + 1)
      const last = delivery.attempts.at(-1)
      assert.deepEqual([last?.status_code, last?.error, delivery.status], [503, 'http_error', 'pending'])
      const endedAt = Date.parse(String(last?.at)) + Number(last?.duration_ms)
      assert.equal(Date.parse(String(delivery.next_attempt_at)), endedAt + gap * 1_000)
      assert.equal((await control.post('/clock', { advance_seconds: gap })).status, 200)
    }
    const failed = await awaitAttempts(slug, GAPS_SECONDS.length + 1)
    assert.deepEqual([failed.status, failed.next_attempt_at], ['failed', null])
    // Payments of the previous test may be confirmed in the meantime. Their events reach the same receiver at other
    // paths.
    const tries = received.filter(({ path }) => path === '/flaky')
    assert.deepEqual(
      tries.map(({ headers }) => headers['service-delivery-attempt']),
      ['1', '2', '3', '4', '5', '6'],
    )
    assert.equal(new Set(tries.map(({ body }) => body)).size, 1, 'the same bytes each time')
    assert.equal(new Set(tries.map(({ headers }) => headers['service-signature'])).size, 6, 'signed anew each time')

    answer = 200
    const replayed = await control.post(`/deliveries/${failed.id}/replay`, {})
    assert.equal(replayed.status, 201)
    const delivery = replayed.body['delivery'] as WireDelivery
    assert.notEqual(delivery.id, failed.id)
    assert.deepEqual(
      [delivery.event_id, delivery.webhook_id, delivery.status, delivery.attempts],
      [failed.event_id, webhook.id, 'pending', []],
    )
    await arrived(7)
    await settled(slug)
    const [newest, ...others] = await readDeliveries(slug)
    assert.deepEqual([newest?.id, newest?.status, newest?.attempts.length], [delivery.id, 'succeeded', 1])
    assert.deepEqual(others, [failed])
    assert.equal(received.findLast(({ path }) => path === '/flaky')?.body, tries[0]?.body)
    await control.post('/clock', { reset: true })
  })

  it('show the reason if nothing listens at their endpoint', async () => {
    const slug = await makeSpender()
    const gone = await startFakeServer(() => undefined)
    await gone.close()
    await register(slug, { url: gone.url, events: ['payment.created'] })
    await pay(slug)
    const { attempts } = await awaitAttempts(slug, 1)
    assert.deepEqual([attempts[0]?.status_code, attempts[0]?.error], [null, 'connection_refused'])
  })

  const cases: readonly (readonly [string, object, number, RegExp])[] = [
    ['/workspaces/demo/webhooks', { mode: 'prod' }, 400, /^mode /],
    ['/workspaces/demo/webhooks', { url: undefined }, 400, /^url /],
    ['/workspaces/demo/webhooks', { url: 'nonsense' }, 400, /url/],
    ['/workspaces/demo/webhooks', { url: 'http://hooks.example/x' }, 400, /url/],
    ['/workspaces/demo/webhooks', { url: 'http://10.0.0.1/x' }, 400, /url/],
    ['/workspaces/demo/webhooks', { events: [] }, 400, /^events /],
    ['/workspaces/demo/webhooks', { events: ['payment.lost'] }, 400, /^events /],
    ['/workspaces/demo/webhooks', { events: 'payment.created' }, 400, /^events /],
    ['/workspaces/demo/webhooks', { events: ['webhook.test'] }, 400, /^events /],
    ['/workspaces/nobody/webhooks', {}, 404, /workspace/],
    ['/deliveries/dlv_x/replay', {}, 404, /delivery/],
    ['/deliveries/__proto__/replay', {}, 404, /delivery/],
    ['/deliveries/%00/replay', {}, 400, /^id /],
  ]
  for (const [path, change, status, message] of cases) {
    it(`is ${status}: POST ${path} ${JSON.stringify(change)}`, async () => {
      const refused = await control.post(path, { mode: 'test', url: 'http://127.0.0.1:9/x', ...change })
      assert.equal(refused.status, status, JSON.stringify(refused.body))
      assert.match(textAt(refused.body, 'error.message'), message)
    })
  }

  it('is 404: GET the deliveries of an unknown workspace', async () => {
    assert.equal((await control.get('/workspaces/nobody/deliveries')).status, 404)
  })

  const keys = new Map<string, string>()
  const wallets = new Map<string, string>()

  /** Creates a workspace with an agent, a funded wallet and an active grant. */
  async function makeSpender(): Promise<string> {
    const made = await control.post('/workspaces', { name: 'Listener' })
    const slug = textAt(made.body, 'workspace.slug')
    const key = textAt(made.body, 'workspace.keys.test')
    const funded = await control.post(`/workspaces/${slug}/wallets`, { mode: 'test', fund_usdc: '5' })
    const wallet = textAt(funded.body, 'wallet.address')
    await createClient(sandbox.facts.base_url, key).post('/v1/agents', { id: 'a' })
    const terms = { mode: 'test', agent_id: 'a', wallet, max_per_tx_usdc: '1', daily_cap_usdc: '10' }
    assert.equal((await control.post(`/workspaces/${slug}/grants`, terms)).status, 201)
    keys.set(slug, key)
    wallets.set(slug, wallet)
    return slug
  }

  async function pay(slug: string): Promise<string> {
    const order = { agent_id: 'a', wallet: wallets.get(slug), to: SHOP, amount_usdc: '1' }
    const paid = await createClient(sandbox.facts.base_url, keys.get(slug)).post('/v1/payments', order)
    assert.equal(paid.status, 201, JSON.stringify(paid.body))
    return textAt(paid.body, 'payment.id')
  }

  async function listen(slug: string, path: string, change: object = {}) {
    return await register(slug, { url: receiver.url + path, ...change })
  }

  async function register(slug: string, change: object): Promise<{ id: string; url: string; secret: string }> {
    const made = await control.post(`/workspaces/${slug}/webhooks`, { mode: 'test', ...change })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const webhook = made.body['webhook'] as { id: string; url: string; secret: string }
    assert.deepEqual(Object.keys(webhook), ['id', 'url', 'secret'])
    assert.match(webhook.secret, /^whsec_/)
    return webhook
  }

  async function readDeliveries(slug: string): Promise<readonly WireDelivery[]> {
    return (await control.get(`/workspaces/${slug}/deliveries`)).body['deliveries'] as WireDelivery[]
  }

  /** Waits until the workspace's only delivery has had this many attempts. */
  async function awaitAttempts(slug: string, count: number): Promise<WireDelivery> {
    const look = async (): Promise<WireDelivery | null> => {
      const [found] = await readDeliveries(slug)
      return found?.attempts.length === count ? found : null
    }
    return await waitFor(`attempt ${count}`, look, ARRIVAL_MS_MAX)
  }

  async function settled(slug: string): Promise<void> {
    const isDone = async () => (await readDeliveries(slug)).every(({ status }) => status !== 'pending')
    await waitFor('nothing is pending', isDone, ARRIVAL_MS_MAX)
  }

  async function arrived(count: number): Promise<void> {
    await waitFor(`${count} arrived`, async () => received.length >= count, ARRIVAL_MS_MAX)
  }

  function typesReceived(): string[] {
    return received.map(({ event }) => event.type).toSorted()
  }

  function idsReceived(): string[] {
    return received.map(({ event }) => event.id).toSorted()
  }

  async function readNow(): Promise<number> {
    return Date.parse(String((await control.get('/')).body['now']))
  }
})
