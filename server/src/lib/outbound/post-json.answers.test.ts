import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openPoster, type Poster } from '../../../../test/support/wires/open-poster.ts'
import { startRawServer } from '../../../../test/support/wires/raw-server.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import type { OutboundOutcome } from './post-json.ts'

const CAP = 16 * 1024
const HEAD = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`
const NOISE = randomBytes(500)
const BINARY = Buffer.concat([Buffer.of(0, 0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80), NOISE])

interface Expected {
  readonly status?: number | null
  readonly error?: OutboundOutcome['error']
  /** The expected body of the response, or its length. */
  readonly body?: Buffer | string | number | null
}

const INVALID: Expected = { status: null, error: 'invalid_response', body: null }

/**
 * The bytes on the wire and the expected result. By default, the expected result is a 200 without an error or a body.
 */
const ANSWERS: Readonly<Record<string, readonly [wire: string | Buffer | ((socket: Socket) => void), Expected]>> = {
  'an empty body': [`${HEAD}content-length: 0\r\n\r\n`, {}],
  '204 without a length': ['HTTP/1.1 204 No Content\r\n\r\n', { status: 204 }],
  '204 with a body behind it': ['HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\nok', { status: 204 }],
  '205': ['HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n', { status: 205 }],
  '304': ['HTTP/1.1 304 Not Modified\r\n\r\n', { status: 304 }],
  'a status without a reason': ['HTTP/1.1 201\r\ncontent-length: 0\r\n\r\n', { status: 201 }],
  'an unknown status': ['HTTP/1.1 799 Odd\r\ncontent-length: 2\r\n\r\nno', { status: 799, body: 'no' }],
  '1xx before the answer': [
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${HEAD}content-length: 2\r\n\r\nok`,
    { body: 'ok' },
  ],
  'HTTP/1.0, until the connection ends': [
    (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nuntil the end'),
    { body: 'until the end' },
  ],
  'HTTP/1.1 without a length, until the connection ends': [
    (socket) => socket.end(`${HEAD}\r\nuntil`),
    { body: 'until' },
  ],
  'chunks with an extension and a trailer': [`${CHUNKED}2;a=b\r\nok\r\n0\r\nx-trailer: 1\r\n\r\n`, { body: 'ok' }],
  'a connection that is reset behind the headers': [
    (socket) =>
      socket.write(`${HEAD}content-length: 100\r\n\r\npart`, () => setTimeout(() => socket.resetAndDestroy(), 20)),
    { body: 'part', error: 'connection_reset' },
  ],
  'a connection that ends before the body does': [
    (socket) => socket.end(`${HEAD}content-length: 100\r\n\r\npart`),
    { body: 'part', error: 'connection_reset' },
  ],
  'chunks without the last one': [
    (socket) => socket.end(`${CHUNKED}2\r\nok\r\n`),
    { body: 'ok', error: 'connection_reset' },
  ],
  'a chunk that is none': [`${CHUNKED}2\r\nok\r\nzz\r\n`, { body: 'ok', error: 'invalid_response' }],
  'bytes that are no text': [
    Buffer.concat([Buffer.from(`${HEAD}content-length: ${BINARY.length}\r\n\r\n`), BINARY]),
    { body: BINARY },
  ],
  'exactly as much as is read': [`${HEAD}content-length: ${CAP}\r\n\r\n${'a'.repeat(CAP)}`, { body: CAP }],
  'a byte more than is read': [`${HEAD}content-length: ${CAP + 1}\r\n\r\n${'a'.repeat(CAP + 1)}`, { body: CAP }],
  'a body without end': [
    (socket) => writeForEver(socket, `${HEAD}content-length: 999999999999\r\n\r\n`, 'a'.repeat(4_096)),
    { body: CAP },
  ],
  'chunks without end': [(socket) => writeForEver(socket, CHUNKED, `400\r\n${'a'.repeat(1_024)}\r\n`), { body: CAP }],
  'a body that is as long as we read, and then silence': [`${CHUNKED}4000\r\n${'a'.repeat(CAP)}\r\n`, { body: CAP }],
  'trailers without end': [
    (socket) => writeForEver(socket, `${CHUNKED}2\r\nok\r\n0\r\n`, `x-a: ${'b'.repeat(1_000)}\r\n`),
    { body: 'ok', error: 'invalid_response' },
  ],
  'headers without end': [(socket) => writeForEver(socket, HEAD, `x-a: ${'b'.repeat(1_000)}\r\n`), INVALID],
  'one header without end': [(socket) => writeForEver(socket, `${HEAD}x-a: `, 'b'.repeat(4_096)), INVALID],
  'more headers than are read': [`${HEAD}${'a: b\r\n'.repeat(10_000)}content-length: 0\r\n\r\n`, INVALID],
  'no HTTP at all': ['SSH-2.0-OpenSSH_9.6\r\n', INVALID],
  'an HTTP/2 preface': [Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]), INVALID],
  'a header with a NUL': [`${HEAD}x-a: a\0b\r\ncontent-length: 0\r\n\r\n`, INVALID],
  'a length and chunks': [
    `${HEAD}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    INVALID,
  ],
  'two lengths': [`${HEAD}content-length: 2\r\ncontent-length: 3\r\n\r\nok`, INVALID],
  'a length that is none': [`${HEAD}content-length: two\r\n\r\nok`, INVALID],
  'another protocol': [
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    INVALID,
  ],
  'half a header': [
    (socket) => socket.end(`${HEAD}content-le`),
    { status: null, error: 'connection_reset', body: null },
  ],
}

describe('a response to postJson', () => {
  let poster: Poster
  before(() => {
    poster = openPoster()
  })
  after(() => poster.close())

  for (const [what, [wire, expected]] of Object.entries(ANSWERS)) {
    it(`may be ${what}`, async (test) => {
      const server = await startRawServer((socket) => {
        if (typeof wire === 'function') wire(socket)
        else socket.write(wire)
      })
      test.after(() => server.close())
      const { statusCode, error, responseBody } = await poster.post(`http://127.0.0.1:${server.port}/`)
      const { status = 200, body = 0 } = expected
      assert.deepEqual({ statusCode, error }, { statusCode: status, error: expected.error ?? null })
      if (typeof body === 'number') assert.equal(responseBody?.length, body)
      else assert.deepEqual(responseBody, body === null ? null : Buffer.from(body))
      assert.equal(server.requests.length, 1)
    })
  }

  it('is not read beyond the limit: the connection is closed', async (test) => {
    let written = 0
    const server = await startRawServer((socket) => {
      socket.on('drain', () => (written += socket.write('a'.repeat(65_536)) ? 65_536 : 0))
      writeForEver(socket, `${HEAD}content-length: 999999999999\r\n\r\n`, 'a'.repeat(65_536), () => (written += 65_536))
    })
    test.after(() => server.close())
    const outcome = await poster.post(`http://127.0.0.1:${server.port}/`)
    assert.equal(outcome.responseBody?.length, CAP)
    await waitFor('the connection to end', () => server.connections.open === 0)
    // The server could write only what fits into the kernel's buffers, which is far less than the announced body.
    assert.ok(written < 64 * 1024 * 1024, `${written} bytes were written`)
  })

  it('is decompressed up to the limit', async (test) => {
    const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024))
    const head = `${HEAD}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`
    const server = await startRawServer((socket) => socket.write(Buffer.concat([Buffer.from(head), bomb])))
    test.after(() => server.close())
    const { responseBody, statusCode, error } = await poster.post(`http://127.0.0.1:${server.port}/`)
    assert.deepEqual([statusCode, error], [200, null])
    assert.deepEqual(responseBody, Buffer.alloc(CAP))
  })

  it('counts even if it arrives before the receiver has read the request, but its connection is not reused', async (test) => {
    const server = await startRawServer(
      (socket) => {
        socket.pause()
        socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbig')
      },
      { early: true },
    )
    test.after(() => server.close())
    const url = `http://127.0.0.1:${server.port}/`
    const body = Buffer.alloc(32 * 1024 * 1024, 'a')
    for (const made of [1, 2]) {
      const { statusCode, responseBody } = await poster.post(url, { body })
      assert.deepEqual({ statusCode, text: String(responseBody) }, { statusCode: 413, text: 'big' })
      assert.equal(server.connections.made, made)
    }
    // We close the connections even if the receiver never does.
    const { sockets, freeSockets } = poster.agents.pick(new URL(url), 'pooled')
    await waitFor('the connections to be closed', () => Object.keys({ ...sockets, ...freeSockets }).length === 0)
  })
})

function writeForEver(socket: Socket, start: string, piece: string, onWrite = (): void => undefined): void {
  socket.write(start)
  const write = (): void => {
    onWrite()
    if (!socket.destroyed) socket.write(piece, (error) => (error ? undefined : setImmediate(write)))
  }
  write()
}
