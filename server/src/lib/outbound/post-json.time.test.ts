import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'
import { openPoster } from '../../../../test/support/wires/open-poster.ts'
import { startRawServer } from '../../../../test/support/wires/raw-server.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import type { OutboundPolicy } from './policy.ts'

/** Long enough for the first bytes of a response, even on a busy machine. */
const TIMEOUT_MS = 2_000
const DRIP_MS = 20
const HEAD = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`

/**
 * What the server sends at once; what it then sends again and again; the expected status; and a pattern for the part of
 * the body that the client has read. The last two are null if the client gets no response.
 */
const SLOW: Readonly<Record<string, readonly [string, string, number | null, RegExp | null]>> = {
  'no response': ['', '', null, null],
  'headers that drip': [HEAD, 'x', null, null],
  'interim answers forever': ['', 'HTTP/1.1 102 Processing\r\n\r\n', null, null],
  'headers, and then silence': [`${HEAD}content-length: 5\r\n\r\n`, '', 200, /^$/],
  'a body that drips': [`${HEAD}content-length: 100000\r\n\r\n`, 'x', 200, /^x+$/],
  'chunks that drip': [CHUNKED, '1\r\nx\r\n', 200, /^x+$/],
  'trailers that drip': [`${CHUNKED}2\r\nok\r\n0\r\n`, 'a: b\r\n', 200, /^ok$/],
}

// The tests mostly wait, so they run at the same time.
describe('an attempt ends in time', { concurrency: true }, () => {
  for (const [what, [start, piece, status, text]] of Object.entries(SLOW)) {
    it(`with ${what}`, async (test) => {
      const server = await startRawServer((socket) => drip(socket, start, piece))
      const poster = openPoster()
      test.after(() => server.close())
      const outcome = await poster.post(`http://127.0.0.1:${server.port}/`, { timeoutMs: TIMEOUT_MS })
      assert.deepEqual(
        { error: outcome.error, status: outcome.statusCode, durationMs: outcome.durationMs },
        { error: 'timeout', status, durationMs: TIMEOUT_MS },
      )
      if (text === null) assert.equal(outcome.responseBody, null)
      else assert.match(String(outcome.responseBody), text)
      await waitFor('the connection to end', () => server.connections.open === 0)
      poster.close()
    })
  }

  it('with a name server that does not respond', async () => {
    await assertTimesOut('http://hook.localhost:9/', { resolve: () => new Promise(() => undefined) })
  })

  it('with a connection that is never accepted', async (test) => {
    const { port, fill, close } = await startDeafServer()
    test.after(close)
    await fill()
    await assertTimesOut(`http://127.0.0.1:${port}/`)
  })

  it('with a TLS handshake that is never answered', async (test) => {
    const server = await startRawServer(() => undefined)
    test.after(() => server.close())
    await assertTimesOut(`https://127.0.0.1:${server.port}/`)
    await waitFor('the connection to end', () => server.connections.made === 1 && server.connections.open === 0)
  })

  it('with one limit for everything: a second connection gets the time that the first has left', async (test) => {
    const server = await startRawServer((socket, request) => {
      if (request.includes('POST /first')) socket.write(`${HEAD}content-length: 0\r\n\r\n`)
      else if (server.connections.made === 1) setTimeout(() => socket.resetAndDestroy(), TIMEOUT_MS / 2)
    })
    test.after(() => server.close())
    const poster = openPoster()
    const url = `http://127.0.0.1:${server.port}`
    assert.equal((await poster.post(`${url}/first`)).statusCode, 200)
    const outcome = await poster.post(`${url}/second`, { timeoutMs: TIMEOUT_MS })
    assert.deepEqual([outcome.error, outcome.durationMs, server.connections.made], ['timeout', TIMEOUT_MS, 2])
    poster.close()
  })
})

async function assertTimesOut(url: string, policy: Partial<OutboundPolicy> = {}): Promise<void> {
  const poster = openPoster(policy)
  const { error, statusCode } = await poster.post(url, { timeoutMs: TIMEOUT_MS })
  assert.deepEqual({ error, statusCode }, { error: 'timeout', statusCode: null })
  poster.close()
}

function drip(socket: Socket, start: string, piece: string): void {
  socket.write(start)
  const timer = setInterval(() => {
    if (piece !== '') socket.write(piece)
  }, DRIP_MS)
  socket.on('close', () => clearInterval(timer))
}

/**
 * Starts a server whose thread is blocked. The kernel accepts one or two connections for it and drops all later ones.
 */
async function startDeafServer() {
  const program = `
    const { parentPort } = require('node:worker_threads')
    const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port)
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
    })`
  const worker = new Worker(program, { eval: true })
  const port = await new Promise<number>((resolve) => worker.once('message', resolve))
  const sockets: Socket[] = []
  return {
    port,
    /** Connects until a connection is no longer accepted. */
    fill: async () => {
      for (let taken = true; taken;) {
        const socket = connect(port, '127.0.0.1').on('error', () => undefined)
        sockets.push(socket)
        taken = await new Promise((resolve) => {
          socket.once('connect', () => resolve(true))
          setTimeout(() => resolve(false), TIMEOUT_MS)
        })
      }
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await worker.terminate()
    },
  }
}
