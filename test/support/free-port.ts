import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * The range of ports to choose from. Systems use higher ports for outgoing connections, so a higher port may be in use
 * at any moment.
 */
const PORT_MIN = 10_000
const PORT_MAX = 32_000

/** Finds a port on which no program listens. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORT_MIN, PORT_MAX)
    if (await isFreePort(port)) return port
  }
}

export async function isFreePort(port: number): Promise<boolean> {
  const server = createServer()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  server.once('error', () => resolve(false))
  server.listen(port, '127.0.0.1', () => resolve(true))
  const free = await promise
  if (free) await new Promise((closed) => server.close(closed))
  return free
}
