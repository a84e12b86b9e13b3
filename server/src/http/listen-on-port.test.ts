import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createServer as createListener, type AddressInfo, type Server as Listener } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import { listenOnPort } from './listen-on-port.ts'

const CLIENTS = 200
/** With one listening socket, a process would need a turn for each client. */
const TURNS_MAX = CLIENTS / 2
/** The operating system connects them all in much less time. */
const CONNECT_MS_MAX = 10_000
const HOST = '127.0.0.1'

/** A thread with clients of its own, which connect while the thread of the test is busy. */
const CONNECT = `
  const { connect } = require('node:net')
  const { workerData, parentPort } = require('node:worker_threads')
  let connected = 0
  for (let index = 0; index < workerData.clients; index += 1) {
    const socket = connect(workerData.port, '127.0.0.1', () => {
      connected += 1
      if (connected === workerData.clients) Atomics.notify(workerData.done, 0, Atomics.store(workerData.done, 0, 1))
    })
    socket.on('error', () => undefined)
  }
`

describe('listening on a port', () => {
  test('a busy process accepts several connections in each turn of its event loop', async (t) => {
    if (process.platform !== 'linux') return t.skip('only Linux divides connections between sockets of one process')
    const { server, port } = await open(t)
    let accepted = 0
    server.on('connection', () => (accepted += 1))
    const done = new Int32Array(new SharedArrayBuffer(4))
    const worker = new Worker(CONNECT, { eval: true, workerData: { clients: CLIENTS, port, done } })
    await once(worker, 'online')
    // The clients are connected by the operating system while this thread waits, and none of them is accepted.
    Atomics.wait(done, 0, 0, CONNECT_MS_MAX)
    for (let turn = 0; turn < TURNS_MAX; turn += 1) {
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
    }
    await worker.terminate()
    assert.equal(accepted, CLIENTS, `${accepted} of ${CLIENTS} connections in ${TURNS_MAX} turns`)
  })

  test('a port that another server uses is rejected, whether or not that server shares it', async (t) => {
    const { port } = await open(t)
    await assert.rejects(open(t, port), { code: 'EADDRINUSE' })
    const other = createListener()
    await once(other.listen(0, HOST), 'listening')
    t.after(() => other.close())
    await assert.rejects(open(t, (other.address() as AddressInfo).port), { code: 'EADDRINUSE' })
  })

  test('requests are served whichever socket accepted them, and nobody listens after all are closed', async (t) => {
    const { server, listeners, port } = await open(t)
    const texts = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const answer = await fetch(`http://${HOST}:${port}`, { headers: { connection: 'close' } })
        return await answer.text()
      }),
    )
    assert.deepEqual([...new Set(texts)], ['served'])
    for (const one of [server, ...listeners]) one.close()
    await assert.rejects(fetch(`http://${HOST}:${port}`))
  })
})

async function open(t: TestContext, port = 0): Promise<{ server: Server; listeners: Listener[]; port: number }> {
  const server = createServer((_request, response) => response.end('served'))
  const listeners: Listener[] = []
  t.after(() => {
    server.closeAllConnections()
    for (const one of [server, ...listeners]) one.close()
  })
  listeners.push(
    ...(await listenOnPort(server, { host: HOST, port }, (options) => once(server.listen(options), 'listening'))),
  )
  return { server, listeners, port: (server.address() as AddressInfo).port }
}
