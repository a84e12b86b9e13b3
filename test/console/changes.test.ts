import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { request, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import { createId } from '../../server/src/values/ids.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { holdTable } from '../support/database/hold-table.ts'
import { waitFor } from '../support/wait-for.ts'
import { announce } from '../support/context/delivery-rows.ts'
import { send } from '../support/http-client.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { paymentBody } from '../support/service/test-service.ts'
import type { Browser } from './browser.ts'
import { EventSource } from './event-source.ts'
import { openVisitor } from './person.ts'

describe('changes are sent to open pages', () => {
  let server: ConsoleServer
  const sources: EventSource[] = []
  before(async () => {
    server = await openConsoleServer()
  })
  afterEach(() => {
    for (const source of sources.splice(0)) source.close()
  })
  after(() => server.close())

  test('the stream begins with the time until a reconnection, and the message that it is ready', async () => {
    const { listen } = await openConsoleFixture()
    const source = await listen()
    await source.waitFor('ready')
    assert.equal(source.text, 'retry: 3000\n\nevent: ready\ndata: {}\n\n')
    assert.equal(source.status, 200)
    const { headers } = source.incoming
    assert.equal(headers['content-type'], 'text/event-stream; charset=utf-8')
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['x-accel-buffering'], 'no')
    assert.match(String(headers['request-id']), /^req_/)
  })

  test('each kind of change is sent once', async () => {
    const { seeded, listen } = await openConsoleFixture()
    const source = await listen()
    await source.waitFor('ready')
    source.take()
    const cases = [
      ['payments', () => pay(seeded)],
      ['refusals', () => pay(seeded, { amount_usdc: '11' })],
      ['payments', () => announce(server.context, seeded.workspace, { type: 'payment.confirmed' })],
      ['payments', () => announce(server.context, seeded.workspace, { type: 'payment.failed' })],
      ['deposits', () => announce(server.context, seeded.workspace, { type: 'inbound.received' })],
      ['grants', () => announce(server.context, seeded.workspace, { type: 'permission.granted' })],
      ['grants', () => announce(server.context, seeded.workspace, { type: 'permission.revoked' })],
      ['grants', () => announce(server.context, seeded.workspace, { type: 'permission.suspended' })],
      ['grants', () => announce(server.context, seeded.workspace, { type: 'permission.resumed' })],
    ] as const
    for (const [kind, make] of cases) {
      await make()
      await source.waitFor('change')
      assert.deepEqual(source.take(), [{ event: 'change', data: { kinds: [kind] } }])
    }
    // The next change is sent alone: the earlier ones are not sent again.
    await pay(seeded, { amount_usdc: '11' })
    await source.waitFor('change')
    assert.deepEqual(source.take(), [{ event: 'change', data: { kinds: ['refusals'] } }])
  })

  test('a change whose transaction commits late is sent too', async () => {
    const { seeded, listen } = await openConsoleFixture()
    const source = await listen()
    await source.waitFor('ready')
    await announce(server.context, seeded.workspace)
    await source.waitFor('change')
    source.take()
    const then = new Date(server.clock.now().getTime() - 20_000)
    await announce(server.context, seeded.workspace, { id: createId('event', then), createdAt: then })
    await source.waitFor('change')
  })

  test('earlier changes are not sent, nor changes in another workspace or mode', async () => {
    const { seeded, listen } = await openConsoleFixture()
    const other = await openConsoleFixture()
    await pay(seeded)
    const source = await listen()
    await source.waitFor('ready')
    const others = await other.listen()
    await others.waitFor('ready')
    await announce(server.context, seeded.workspace, { mode: 'live' })
    await pay(other.seeded)
    await others.waitFor('change')
    // The poll that found the other workspace's change has also read the first workspace's changes in test mode, and
    // found none.
    await announce(server.context, seeded.workspace, { type: 'inbound.received' })
    await source.waitFor('change')
    assert.deepEqual(source.take(), [
      { event: 'ready', data: {} },
      { event: 'change', data: { kinds: ['deposits'] } },
    ])
  })

  test('a page that is opened later gets the changes from then on', async () => {
    const { seeded, listen } = await openConsoleFixture()
    const first = await listen()
    await first.waitFor('ready')
    await pay(seeded)
    await first.waitFor('change')
    const second = await listen()
    await second.waitFor('ready')
    await announce(server.context, seeded.workspace, { type: 'inbound.received' })
    await Promise.all([first.waitFor('change', 2), second.waitFor('change')])
    assert.deepEqual(second.take().at(-1), { event: 'change', data: { kinds: ['deposits'] } })
  })

  test('five pages of a session can listen; the sixth one replaces the oldest', async () => {
    const { listen } = await openConsoleFixture()
    const open: EventSource[] = []
    for (let count = 0; count < 6; count += 1) open.push(await listen())
    const [oldest, ...others] = open
    await oldest?.waitForEnd()
    await Promise.all(others.map((source) => source.waitFor('ready')))
    assert.ok(open.every(({ status }) => status === 200))
    assert.ok(others.every(({ isEnded }) => !isEnded))
  })

  test('pages that disconnect before they get a response replace no open page', async () => {
    const { seeded, listen, browser, path } = await openConsoleFixture()
    const open = await Promise.all(Array.from({ length: 5 }, () => listen()))
    await Promise.all(open.map((source) => source.waitFor('ready')))
    const arrivals = watchArrivals(path)
    const release = await holdTable(server.context.db, 'members')
    try {
      const gone = Array.from({ length: 5 }, () => {
        const outgoing = request(`${server.url}${path}`, {
          agent: false,
          headers: {
            cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
            host: server.host,
          },
        })
        outgoing.on('error', () => undefined)
        outgoing.end()
        return outgoing
      })
      await waitFor('the requests', () => arrivals.sockets.length === gone.length)
      for (const outgoing of gone) outgoing.destroy()
      await waitFor('the server to notice', () => arrivals.sockets.every(({ closed }) => closed))
    } finally {
      arrivals.stop()
      await release()
    }
    await pay(seeded)
    await Promise.all(open.map((source) => source.waitFor('change')))
    assert.ok(open.every(({ isEnded }) => !isEnded))
  })

  test('a caller who may not read the workspace may not listen', async () => {
    const { path } = await openConsoleFixture()
    const stranger = await openVisitor(server)
    await stranger.browser.refuse('GET', path, { type: 'not_found' })
    stranger.browser.cookies.clear()
    await stranger.browser.refuse('GET', path, { type: 'unauthenticated' })
    const { browser, path: own } = await openConsoleFixture()
    await browser.refuse('GET', own.replace('mode=test', 'mode=none'), { type: 'validation_failed' })
    assert.equal((await browser.call('HEAD', own)).status, 404)
  })

  test('a stop of the service ends every stream at once', async () => {
    const another = await openConsoleServer()
    const { listen } = await openConsoleFixture(another)
    const open = await Promise.all([listen(), listen()])
    await Promise.all(open.map((source) => source.waitFor('ready')))
    const startedAt = performance.now()
    await another.close()
    assert.ok(performance.now() - startedAt < STOP_MS_MAX)
    for (const source of open) await source.waitForEnd()
  })

  async function openConsoleFixture(of: ConsoleServer = server) {
    const seeded = await seed(of.context)
    const { browser, userId } = await openVisitor(of)
    await addMember(of.context, { workspace: seeded.workspace, userId, role: 'viewer', actor: OPERATOR })
    const path = `/console/workspaces/${seeded.workspace.slug}/changes?mode=test`
    return { seeded, browser, path, listen: () => listen(of, browser, path) }
  }

  async function listen(of: ConsoleServer, browser: Browser, path: string): Promise<EventSource> {
    const source = await EventSource.open(of, path, browser)
    sources.push(source)
    return source
  }

  async function pay(seeded: Seed, changes: Readonly<Record<string, unknown>> = {}): Promise<void> {
    await send(server.url, { path: '/v1/payments', key: seeded.key, body: paymentBody(seeded, changes) })
  }
})

/** Collects the connections, on the server's side, of the requests for `path` that arrive from now on. */
function watchArrivals(path: string) {
  const sockets: Socket[] = []
  const note = (message: unknown) => {
    const { request: incoming, socket } = message as { readonly request: IncomingMessage; readonly socket: Socket }
    if (incoming.url === path) sockets.push(socket)
  }
  subscribe('http.server.request.start', note)
  return { sockets, stop: () => void unsubscribe('http.server.request.start', note) }
}

/** How long the server may take to stop. If a stop did not end the streams, the server would cut them much later. */
const STOP_MS_MAX = 10_000
