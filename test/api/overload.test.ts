import assert from 'node:assert/strict'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { addApi } from '../../server/src/api/add-api.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { issueKey } from '../../server/src/domain/keys/issue-key.ts'
import { allowCrossOrigin } from '../../server/src/http/cross-origin.ts'
import { addHealth } from '../../server/src/http/add-health.ts'
import { openHttp, type HttpServer } from '../../server/src/http/open-http.ts'
import { createApiKeySecret } from '../../server/src/values/api-key.ts'
import { expectError, readBody, send, type Answer } from '../support/http-client.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { openTestContext, type TestContext } from '../support/context/test-context.ts'
import { paymentBody } from '../support/service/test-service.ts'
import { waitFor } from '../support/wait-for.ts'

/** One workspace may take at most half of the places for requests that may wait for the enclave or a chain. */
const SHARE = 256
const SENT = 300
/** For requests that only use the database, one workspace may take at most half of the places and of the queue. */
const DATABASE_SHARE = 64 + 256
const DATABASE_SENT = 400
const WAITERS = 20
/** So many payments of one client are prepared at once: half of all that may be. */
const SUBMISSION_SHARE = 16
const PAYMENTS = 24
/** The kinds of load that the gate limits. For each, the test has a route whose requests wait for the test. */
const LOADS = ['database', 'payment', 'other'] as const

describe('overload', () => {
  let given: TestContext
  let http: HttpServer
  let url: string
  let busy: Seed
  let other: Seed
  /** Until it is resolved, the requests to the routes `/held/…` keep their places. */
  let held = Promise.withResolvers<void>()
  before(async () => {
    given = await openTestContext()
    const { context, config, clock } = given
    http = openHttp(config, { clock, logger: context.logger })
    addHealth(http, { needed: { database: () => context.db.ping() } })
    await addApi(http, context, config)
    await http.register((scope: HttpServer, _options, done) => {
      allowCrossOrigin(scope)
      scope.addHook('onRequest', scope.overloadGate.hook)
      for (const load of LOADS) {
        scope.get(`/held/${load}`, { config: load === 'other' ? {} : { load } }, async () => {
          await held.promise
          return {}
        })
      }
      done()
    })
    await http.listen({ host: '127.0.0.1', port: 0 })
    url = `http://127.0.0.1:${(http.server.address() as AddressInfo).port}`
    busy = await seed(context)
    other = await seed(context)
    // The gate knows the workspace of a credential only after a first request with this credential.
    for (const { key } of [busy, other]) readBody(await send(url, { path: '/v1/me', key }), 200)
  })
  after(async () => {
    held.resolve()
    await http.close()
    await given.close()
  })

  test('a workspace gets half of the places; its other requests are 503 at once, and those of others are served', async () => {
    hold()
    const flood = sendMany(SENT, { path: '/held/other', key: busy.key })
    await waitFor('the rejections', () => flood.answers.length === SENT - SHARE)
    for (const answer of flood.answers) expectTurnedAway(answer)
    const others = sendMany(10, { path: '/held/other', key: other.key })
    const strangers = sendMany(10, { path: '/held/other', key: `${other.key.slice(0, -1)}_` })
    const all = SHARE + others.sent + strangers.sent
    await waitFor('the other requests being in work', () => http.overloadGate.inWork === all)
    assert.equal((await send(url, { path: '/healthz' })).status, 200)
    held.resolve()
    for (const answer of [...(await others.done), ...(await strangers.done)]) readBody(answer, 200)
    const counts = Map.groupBy(await flood.done, ({ status }) => status)
    assert.deepEqual([counts.get(200)?.length, counts.get(503)?.length], [SHARE, SENT - SHARE])
    await untilIdle()
    readBody(await send(url, { path: '/v1/me', key: other.key }), 200)
  })

  test('unknown credentials share the places of their address, so a flood of them turns no known one away', async () => {
    hold()
    const flood = sendMany(SENT, { path: '/held/other', key: createApiKeySecret('test') })
    await waitFor('the rejections', () => flood.answers.length === SENT - SHARE)
    const known = sendMany(5, { path: '/held/other', key: other.key })
    await waitFor('the known requests being in work', () => http.overloadGate.inWork === SHARE + known.sent)
    held.resolve()
    for (const answer of await known.done) readBody(answer, 200)
    const counts = Map.groupBy(await flood.done, ({ status }) => status)
    assert.deepEqual([counts.get(200)?.length, counts.get(503)?.length], [SHARE, SENT - SHARE])
    await untilIdle()
  })

  test('requests that only use the database wait for a place in turn, and another workspace does not wait for them', async () => {
    hold()
    const flood = sendMany(DATABASE_SENT, { path: '/held/database', key: busy.key })
    await waitFor('the rejections', () => flood.answers.length >= DATABASE_SENT - DATABASE_SHARE)
    for (const answer of flood.answers) expectTurnedAway(answer)
    const others = sendMany(5, { path: '/held/database', key: other.key })
    held.resolve()
    for (const answer of await others.done) readBody(answer, 200)
    for (const answer of await flood.done) assert.ok([200, 503].includes(answer.status), answer.text)
    await untilIdle()
  })

  test('a request that waits for its payment is not counted; one whose client has left is, until it is done', async () => {
    given.enclave.behave = () => 'sign without hash'
    const { workspaceId, mode } = { workspaceId: other.workspace.id, mode: other.mode }
    const key = (await issueKey(given.context, { workspaceId, mode, actor: OPERATOR })).secret
    const paid = await send(url, { path: '/v1/payments', key, body: paymentBody(other) })
    given.enclave.behave = () => 'sign'
    const { id } = readBody<{ payment: { id: string } }>(paid, 201).payment
    const sockets = openMany(WAITERS, `GET /v1/payments/${id}?wait=45 HTTP/1.1\r\nHost: a\r\n${bearer(key)}\r\n`)
    await waitFor('the waits', () => given.context.paymentWaits.waiting === WAITERS)
    assert.equal(http.overloadGate.inWork, 0)
    for (const socket of sockets) socket.destroy()
    await waitFor('the end of the waits', () => given.context.paymentWaits.waiting === 0)

    hold()
    const left = openMany(SHARE, `GET /held/other HTTP/1.1\r\nHost: a\r\n${bearer(key)}\r\n`)
    await waitFor('the requests being in work', () => http.overloadGate.inWork === SHARE)
    const open = async (): Promise<number> => await promisify(http.server.getConnections.bind(http.server))()
    for (const socket of left) socket.destroy()
    await waitFor('the end of the connections', async () => (await open()) === 0)
    assert.equal(http.overloadGate.inWork, SHARE)
    held.resolve()
    await untilIdle()
  })

  test('few payments are prepared at once, and the others wait', async () => {
    hold()
    const paying = sendMany(SUBMISSION_SHARE + 2, { path: '/held/payment', key: busy.key })
    await waitFor('the payments that wait', () => http.overloadGate.waiting === 2)
    assert.equal(http.overloadGate.inWork, paying.sent)
    held.resolve()
    for (const answer of await paying.done) readBody(answer, 200)
    await untilIdle()
  })

  test('a payment that is at the enclave lets the next one start', async (t) => {
    const { context, enclave } = given
    const payer = await seed(context)
    const before = enclave.requests.length
    const { promise: released, resolve: letEnclaveRespond } = Promise.withResolvers<void>()
    enclave.released = released
    enclave.behave = () => 'sign when released'
    t.after(() => {
      letEnclaveRespond()
      enclave.behave = () => 'sign'
    })
    const orders = Array.from({ length: PAYMENTS }, (_, index) => ({
      path: '/v1/payments',
      key: payer.key,
      body: paymentBody(payer, { amount_usdc: '0.01', idempotency_key: `payment ${index}` }),
    }))
    const paying = Promise.all(orders.map((order) => send(url, order)))
    // The enclave has responded to none of them, and yet all of them reach it.
    await waitFor('all payments at the enclave', () => enclave.requests.length === before + PAYMENTS)
    assert.deepEqual([http.overloadGate.waiting, http.overloadGate.inWork], [0, PAYMENTS])
    letEnclaveRespond()
    for (const answer of await paying) assert.equal(answer.status, 201, answer.text)
    await untilIdle()
  })

  test('idle and dripping connections are no work', async () => {
    const idle = openMany(200, '')
    const dripping = openMany(50, `GET /v1/me HTTP/1.1\r\nHost: a\r\nX-Slow: `)
    await waitFor('the connections', () => [...idle, ...dripping].every(({ pending }) => !pending))
    for (const socket of dripping) socket.write('x')
    readBody(await send(url, { path: '/v1/me', key: other.key }), 200)
    await untilIdle()
    const body = openMany(
      10,
      `POST /v1/payments HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n${bearer(other.key)}\r\n{`,
    )
    await waitFor('the bodies', () => http.arrivingBodies.bytes === body.length)
    await untilIdle()
    for (const socket of [...idle, ...dripping, ...body]) socket.destroy()
    await untilIdle()
  })

  /** Lets the requests to the routes `/held/…` wait from now on. */
  function hold(): void {
    held = Promise.withResolvers()
  }

  function sendMany(sent: number, call: { path: string; key: string }) {
    const answers: Answer[] = []
    const done = Promise.all(
      Array.from({ length: sent }, async () => {
        const answer = await send(url, call)
        answers.push(answer)
        return answer
      }),
    )
    return { sent, answers, done }
  }

  function openMany(count: number, bytes: string): Socket[] {
    const { hostname, port } = new URL(url)
    return Array.from({ length: count }, () => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => undefined)
      socket.write(bytes)
      return socket
    })
  }

  async function untilIdle(): Promise<void> {
    await waitFor('the end of all work', () => http.overloadGate.inWork === 0)
  }
})

function bearer(key: string): string {
  return `Authorization: Bearer ${key}\r\n`
}

function expectTurnedAway(answer: Answer): void {
  const { message } = expectError(answer, { type: 'unavailable' })
  assert.match(message, /Nothing was recorded/)
  assert.match(answer.headers['retry-after'] ?? '', /^[1-9][0-9]*$/)
  assert.equal(answer.headers['access-control-allow-origin'], '*')
}
