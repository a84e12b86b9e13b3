import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { Stripe } from 'stripe'
import { waitFor } from '../../test/support/wait-for.ts'
import { startReceiver, type Receiver } from '../../test/support/wires/receiver.ts'
import { answerError, KEY, ME, paymentOf, startFakeService, type FakeService } from './support/fake-service.ts'
import { openHome, type Home } from './support/run-cli.ts'

const SINCE = '2026-11-23T00:00:00.000Z'

/** The commands that follow events until they are stopped. */
describe('following events', () => {
  let service: FakeService
  let home: Home
  let receiver: Receiver
  let env: Readonly<Record<string, string>>
  let events: Record<string, unknown>[]
  before(async () => {
    service = await startFakeService()
    home = await openHome()
    receiver = await startReceiver()
    env = { BURSAR_URL: service.url, BURSAR_API_KEY: KEY }
    service.routes.set('GET /v1/events', () => ({ events: events.toReversed(), next_cursor: null }))
  })
  beforeEach(() => {
    events = [eventOf('evt_1', 1), eventOf('evt_2', 2)]
  })
  after(async () => {
    await home.close()
    await receiver.close()
    await service.close()
  })
  const looks = (): URL[] =>
    service.seen.filter(({ path }) => path.startsWith('/v1/events')).map(({ path }) => new URL(path, service.url))

  test('events tail prints each event once, oldest first, as webhooks deliver it', async () => {
    const before = looks().length
    const started = home.start(['events', 'tail', '--since', SINCE, '--type', 'payment.created'], { env, input: '' })
    await started.matched(/evt_2/)
    events.push(eventOf('evt_3', 3))
    await started.matched(/evt_3/)
    started.process.kill('SIGINT')
    assert.equal((await started.ended).code, 130)
    assert.deepEqual(started.lines(), events)
    const [first] = looks().slice(before)
    assert.deepEqual(Object.fromEntries(first?.searchParams ?? []), {
      ...{ order: 'desc', limit: '100', created_after: SINCE, type: 'payment.created' },
    })
  })

  test('without --since, it begins now, by the clock of the service', async () => {
    // The clock of a sandbox may have been moved far ahead. The header `Date` shows the time of the machine.
    service.routes.set('GET /v1/me', (_request, response) => {
      response.setHeader('date', 'Mon, 23 Nov 2026 05:00:00 GMT')
      return { ...ME, server_time: '2031-01-01T12:00:00.000Z' }
    })
    for (const [args, start] of [
      [[], '2031-01-01T12:00:00.000Z'],
      [['--since', '2h'], '2031-01-01T10:00:00.000Z'],
    ] as const) {
      const before = looks().length
      const started = home.start(['events', 'tail', ...args], { env, input: '' })
      const [first] = await waitFor('a look', () => (looks().length > before ? looks().slice(before) : null))
      started.process.kill('SIGINT')
      await started.ended
      assert.equal(first?.searchParams.get('created_after'), start)
    }
    service.routes.set('GET /v1/me', () => ME)
  })

  test('webhooks listen goes on through an outage, and forwards the events of that time', async () => {
    const answerEvents = service.routes.get('GET /v1/events') ?? assert.fail('no route')
    const count = receiver.received.length
    const args = ['webhooks', 'listen', '--forward-to', receiver.url, '--since', SINCE]
    const started = home.start(args, { env, input: '' })
    await receiver.arrived(count + 2)
    let failures = 0
    // First the service is gone, then a proxy answers for it.
    service.routes.set('GET /v1/events', (_request, response) => {
      failures += 1
      if (failures === 1) response.destroy()
      else response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>')
    })
    await waitFor('two failures', () => failures >= 2)
    events.push(eventOf('evt_3', 3))
    service.routes.set('GET /v1/events', answerEvents)
    await receiver.arrived(count + 3)
    started.process.kill('SIGINT')
    const { code, stderr } = await started.ended
    assert.equal(code, 130)
    const ids = receiver.received.slice(count).map(({ eventId }) => eventId)
    assert.deepEqual(ids, ['evt_1', 'evt_2', 'evt_3'])
    const notices = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.deepEqual(
      notices.map(({ service: state }) => state),
      ['down', 'up', undefined],
    )
    // One minute before the newest event, because an earlier event can become readable later.
    const since = '2026-11-23T00:59:03.000Z'
    const next = ['bursar', 'webhooks', 'listen', '--forward-to', receiver.url, '--since', since]
    assert.deepEqual(notices.at(-1), { stopped: { next } })
  })

  test('an error that does not go away ends the command, and names --since', async () => {
    const answerEvents = service.routes.get('GET /v1/events') ?? assert.fail('no route')
    receiver.reply(500)
    // The receiver does not accept this event, so the next command must begin with it.
    events[0] = { ...eventOf('evt_1', 1), created_at: '2026-11-23T00:30:00.000Z' }
    const args = ['webhooks', 'listen', '--forward-to', receiver.url, '--since', SINCE]
    const started = home.start(args, { env, input: '' })
    await started.matched(/evt_2/)
    service.routes.set('GET /v1/events', (_request, response) =>
      answerError(response, 401, { type: 'unauthenticated', message: 'The API key is revoked.' }),
    )
    const { code, stderr } = await started.ended
    service.routes.set('GET /v1/events', answerEvents)
    receiver.reply(200)
    assert.equal(code, 3)
    const { error, next } = JSON.parse(stderr) as { error: { code: string }; next: readonly string[] }
    assert.equal(error.code, 'unauthenticated')
    assert.deepEqual(next.slice(-2), ['--since', '2026-11-23T00:30:00.000Z'])
  })

  test('before the first response of the service, an outage ends the command', async () => {
    const wrong = { ...env, BURSAR_URL: 'http://127.0.0.1:1' }
    const { code } = await home.start(['events', 'tail', '--since', SINCE], { env: wrong, input: '' }).ended
    assert.equal(code, 1)
  })

  test('people see one line for each event, and no control characters', async () => {
    events = [eventOf('evt_1', 1, { to: '0x1\u001b[2J' })]
    const started = home.start(['events', 'tail', '--since', SINCE, '--no-json'], { env, input: '' })
    await started.matched(/payment\.created/)
    started.process.kill('SIGINT')
    const { stdout } = await started.ended
    assert.equal(stdout, '2026-11-23 01:00:01  payment.created     pay_1  1.25 USDC to 0x1\ufffd[2J\n')
  })

  test('webhooks listen forwards each event, signed so that a verifier accepts it', async () => {
    const count = receiver.received.length
    const args = ['webhooks', 'listen', '--forward-to', receiver.url, '--since', SINCE]
    const started = home.start(args, { env, input: '' })
    await receiver.arrived(count + 2)
    await started.matched(/evt_2.*delivered/)
    started.process.kill('SIGINT')
    assert.equal((await started.ended).code, 130)
    const [listening, ...outcomes] = started.lines()
    const secret = String((listening?.['listening'] as { secret?: string } | undefined)?.secret)
    const stripe = new Stripe('sk_unused')
    for (const [at, { headers, body }] of receiver.received.slice(count).entries()) {
      const event: unknown = stripe.webhooks.constructEvent(body, String(headers['service-signature']), secret)
      assert.deepEqual(event, events[at])
      const sent = ['service-event-id', 'service-event-type', 'service-delivery-attempt'].map((name) => headers[name])
      assert.deepEqual(sent, [events[at]?.['id'], 'payment.created', '1'])
      assert.equal(headers.authorization, undefined, 'the credential stays here')
    }
    assert.deepEqual(outcomes[0], {
      event: { id: 'evt_1', type: 'payment.created' },
      delivered: true,
      status: 200,
      error: null,
    })
  })

  test('a secret from the environment is used and not shown', async () => {
    const count = receiver.received.length
    const secret = 'whsec_of_the_environment'
    const started = home.start(['webhooks', 'listen', '--forward-to', receiver.url, '--since', SINCE, '--no-json'], {
      env: { ...env, BURSAR_WEBHOOK_SECRET: secret },
      input: '',
    })
    await receiver.arrived(count + 1)
    started.process.kill('SIGINT')
    const { stdout, stderr } = await started.ended
    const [first] = receiver.received.slice(count)
    assert.ok(first !== undefined)
    new Stripe('sk_unused').webhooks.constructEvent(first.body, String(first.headers['service-signature']), secret)
    assert.doesNotMatch(stdout + stderr, /whsec_/)
  })

  test('a receiver that fails or is down is told, and the next event still comes', async () => {
    receiver.reply((response, { eventId }) => {
      if (eventId === 'evt_1') response.destroy()
      else response.writeHead(302, { location: 'http://localhost:1/' }).end()
    })
    const started = home.start(['webhooks', 'listen', '--forward-to', receiver.url, '--since', SINCE], {
      env,
      input: '',
    })
    await started.matched(/"evt_2"/)
    started.process.kill('SIGINT')
    await started.ended
    receiver.reply(200)
    const outcomes = started.lines().slice(1)
    assert.deepEqual(
      outcomes.map(({ delivered, status, error }) => [delivered, status, error]),
      [
        [false, null, 'cannot be reached'],
        [false, 302, null],
      ],
    )
  })
})

function eventOf(id: string, second: number, payment: object = {}): Record<string, unknown> {
  return {
    id,
    type: 'payment.created',
    created_at: `2026-11-23T01:00:0${second}.000Z`,
    mode: 'test',
    account_slug: 'demo',
    data: { payment: paymentOf(payment) },
  }
}
