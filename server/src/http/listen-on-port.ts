import type { Server } from 'node:http'
import { createServer, type ListenOptions, type Server as Listener } from 'node:net'
import { CONNECTIONS_MAX, CONNECTIONS_WAITING_MAX } from './limits.ts'

/**
 * How many sockets listen on each port. In each turn of the event loop, Node accepts one connection for each of them. A
 * busy process has 15 to 50 turns in a second, so with one socket, new clients would wait for seconds. Linux divides
 * connections between sockets that share a port. Not every other system does.
 *
 * The sockets divide `CONNECTIONS_MAX` too. Some get a few more connections than others, so the first connections may be
 * rejected at about nine tenths of it.
 */
const LISTENERS = process.platform === 'linux' ? 16 : 1

interface Place {
  readonly host: string
  readonly port: number
}

export interface SharedPlace extends Place {
  readonly backlog: number
  readonly reusePort: boolean
}

/**
 * Makes the server listen on a port with several sockets. Calls `listen` for the first one. Returns the others, which
 * pass their connections to the server, and must be closed with it. Port 0 is any free port. Rejects if another process
 * listens on the port.
 */
export async function listenOnPort(
  server: Server,
  place: Place,
  listen: (options: SharedPlace) => Promise<unknown>,
): Promise<Listener[]> {
  const isShared = LISTENERS > 1
  if (isShared) await checkPortIsFree(place)
  const shared = { backlog: CONNECTIONS_WAITING_MAX, reusePort: isShared }
  server.maxConnections = CONNECTIONS_MAX / LISTENERS
  await listen({ ...place, ...shared })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port')
  const listeners = Array.from({ length: LISTENERS - 1 }, () => createListener(server))
  for (const listener of listeners) await start(listener, { host: place.host, port: address.port, ...shared })
  return listeners
}

/** The same options as those with which Node creates the listening socket of an HTTP server. */
function createListener(server: Server): Listener {
  const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket))
  listener.maxConnections = CONNECTIONS_MAX / LISTENERS
  return listener
}

/**
 * A socket that shares its port does not notice another process of the same user that shares the port too. So a socket
 * that does not share tries the port first.
 */
async function checkPortIsFree(place: Place): Promise<void> {
  if (place.port === 0) return
  const probe = createServer()
  await start(probe, place)
  await new Promise((resolve) => {
    probe.close(resolve)
  })
}

async function start(listener: Listener, options: ListenOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(options, resolve)
  })
}
