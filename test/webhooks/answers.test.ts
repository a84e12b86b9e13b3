import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import type { Workspace } from '../../server/src/domain/workspaces/workspace.ts'
import type { AttemptError } from '../../server/src/domain/webhooks/delivery.ts'
import { makeWorkspace } from '../support/context/delivery-rows.ts'
import {
  deliverOne,
  openSenderFixture,
  type SenderFixture,
  type Subscription,
} from '../support/context/sender-fixture.ts'

const CAP = 16 * 1024
const BINARY = Buffer.from([0, 255, 254, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0x1b, 0x5b, 0x32, 0x4a, 0])
const BOMB = gzipSync(Buffer.alloc(4 * 1024 * 1024))

type Answer = (response: ServerResponse) => void
interface Expected {
  readonly status: number | null
  readonly error: AttemptError | null
  readonly body: Buffer | string | null
}

// The files `post-json.*.test.ts` test all kinds of responses. The tests here check what the service concludes from a
// response, and what it stores.

const SUCCESSES: Readonly<Record<string, readonly [Answer, number, Buffer | string]>> = {
  '200': [(response) => response.end('thanks'), 200, 'thanks'],
  '201 without a body': [(response) => response.writeHead(201).end(), 201, ''],
  '204': [(response) => response.writeHead(204).end(), 204, ''],
  '205': [(response) => response.writeHead(205).end(), 205, ''],
  '299': [(response) => response.writeHead(299).end('odd'), 299, 'odd'],
  '1xx first': [
    (response) => {
      response.writeProcessing()
      response.writeEarlyHints({ link: '</a>; rel=preload' })
      response.end('ok')
    },
    200,
    'ok',
  ],
  'bytes that are no text': [(response) => response.end(BINARY), 200, BINARY],
  'more than is kept': [(response) => response.end('a'.repeat(10 * CAP)), 200, 'a'.repeat(CAP)],
  'no end': [writeForEver, 200, 'a'.repeat(CAP)],
  'a text in gzip': [
    (response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('thanks')),
    200,
    'thanks',
  ],
  'a plain text that is called gzip': [
    (response) => response.setHeader('content-encoding', 'gzip').end('thanks'),
    200,
    'thanks',
  ],
  'a gzip bomb': [(response) => response.setHeader('content-encoding', 'gzip').end(BOMB), 200, Buffer.alloc(CAP)],
}

const FAILURES: Readonly<Record<string, readonly [Answer | number, Expected]>> = {
  ...Object.fromEntries(
    [300, 301, 302, 303, 304, 307, 308].map((status) => [status, [status, { status, error: 'redirect', body: '' }]]),
  ),
  ...Object.fromEntries(
    [400, 401, 404, 429, 500, 503, 599].map((status) => [status, [status, { status, error: 'http_error', body: '' }]]),
  ),
  'a failure with a reason': [
    (response) => response.writeHead(422).end('{"error":"é✓\u0000"}'),
    { status: 422, error: 'http_error', body: '{"error":"é✓\u0000"}' },
  ],
  'a reset before the headers': [reset, { status: null, error: 'connection_reset', body: null }],
  'a 200 whose connection is reset within the body': [
    (response) => response.writeHead(200, { 'content-length': 100 }).write('part', () => reset(response)),
    { status: 200, error: 'connection_reset', body: 'part' },
  ],
  'a 200 that announces 100 bytes and sends 3': [
    (response) => response.writeHead(200, { 'content-length': 100 }).write('yes', () => response.socket?.end()),
    { status: 200, error: 'connection_reset', body: 'yes' },
  ],
  'a 200 with a gzip that has no end': [
    (response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('thanks').subarray(0, -9)),
    { status: 200, error: 'invalid_response', body: 'thanks' },
  ],
  'a 200 with a chunk that is none': [
    ({ socket }) => socket?.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n'),
    { status: 200, error: 'invalid_response', body: 'ok' },
  ],
  'more headers than are read': [
    (response) => response.writeHead(200, { 'x-much': 'a'.repeat(2 * CAP) }).end(),
    { status: null, error: 'invalid_response', body: null },
  ],
}

describe('the response of an endpoint', () => {
  let sending: SenderFixture
  let workspace: Workspace
  let subscription: Subscription
  before(async () => {
    sending = await openSenderFixture()
  })
  beforeEach(async () => {
    workspace = await makeWorkspace(sending.ctx)
    subscription = await sending.subscribe(workspace)
  })
  afterEach(() => sending.reset())
  after(() => sending.close())

  for (const [what, [answer, status, body]] of Object.entries(SUCCESSES)) {
    test(`with ${what} is a success, and its body is stored`, async () => {
      sending.startSender()
      subscription.receiver.reply(answer)
      const { delivery, attempts } = await deliverOne(sending, workspace, subscription)
      assert.equal(delivery.status, 'succeeded')
      assertAttempt(attempts, { status, error: null, body: Buffer.from(body).subarray(0, CAP) })
    })
  }

  for (const [what, [reply, expected]] of Object.entries(FAILURES)) {
    test(`with ${what} is a failure`, async () => {
      sending.startSender()
      subscription.receiver.reply(reply)
      const { delivery, attempts } = await deliverOne(sending, workspace, subscription)
      assert.deepEqual([delivery.status, delivery.attempts], ['pending', 1])
      assertAttempt(attempts, expected)
      assert.equal(subscription.receiver.received.length, 1)
    })
  }

  test('that is a redirect is not followed, neither to ourselves nor anywhere else', async () => {
    sending.startSender()
    const elsewhere = await sending.subscribe(await makeWorkspace(sending.ctx))
    const headers = { location: elsewhere.receiver.url }
    for (const status of [301, 302, 303, 307, 308]) {
      subscription.receiver.reply((response) => response.writeHead(status, headers).end())
      const { attempts } = await deliverOne(sending, workspace, subscription)
      assertAttempt(attempts, { status, error: 'redirect', body: '' })
    }
    assert.equal(elsewhere.receiver.received.length, 0)
  })

  test('must arrive within one time limit for the whole attempt, even if headers and body arrive byte by byte', async () => {
    // The request must arrive, and the first bytes of the response, even on a busy machine.
    const attemptMs = 2_000
    sending.startSender({ attemptMs })
    const cases: readonly (readonly [Answer, number | null])[] = [
      [() => undefined, null],
      [(response) => drip(response, () => response.writeProcessing()), null],
      [(response) => response.writeHead(200).flushHeaders(), 200],
      [(response) => drip(response, () => response.write('a')), 200],
    ]
    for (const [answer, status] of cases) {
      subscription.receiver.reply(answer)
      const { delivery, attempts } = await deliverOne(sending, workspace, subscription)
      assert.equal(delivery.status, 'pending')
      const [attempt] = attempts
      assert.deepEqual(
        [attempt?.error, attempt?.statusCode, attempt?.durationMs, attempt?.responseBody === null],
        ['timeout', status, attemptMs, status === null],
      )
    }
  })

  function assertAttempt(attempts: Awaited<ReturnType<typeof deliverOne>>['attempts'], expected: Expected): void {
    const [attempt, ...others] = attempts
    assert.ok(attempt !== undefined)
    assert.equal(others.length, 0)
    const { statusCode, error, responseBody } = attempt
    assert.deepEqual({ statusCode, error }, { statusCode: expected.status, error: expected.error })
    assert.deepEqual(responseBody, expected.body === null ? null : Buffer.from(expected.body))
  }
})

function writeForEver(response: ServerResponse): void {
  const write = (): void => {
    if (!response.destroyed) response.write('a'.repeat(4_096), () => setImmediate(write))
  }
  write()
}

function reset({ socket }: ServerResponse): void {
  socket?.resetAndDestroy()
}

function drip(response: ServerResponse, write: () => void): void {
  const timer = setInterval(write, 20)
  response.on('close', () => clearInterval(timer))
}
