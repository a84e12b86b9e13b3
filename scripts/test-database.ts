import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { startPostgres } from '../sandbox/src/postgres/start-postgres.ts'

export interface TestDatabase {
  readonly url: string
  stop(): Promise<void>
}

/** Below the range from which systems take the ports of outgoing connections: those come and go at any moment. */
const PORT_MIN = 10_000
const PORT_MAX = 32_000
/** Another program may take the port between our look and the start of PostgreSQL. */
const STARTS_MAX = 5

/** Starts a throw-away PostgreSQL on a free port, with its files in `dataDir`. It outlives no run, so it never syncs. */
export async function startTestDatabase(dataDir: string): Promise<TestDatabase> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort()
    try {
      return await startPostgres({ dataDir, port, durable: false })
    } catch (error) {
      if (attempt === STARTS_MAX || (await isFree(port))) throw error
    }
  }
}

async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORT_MIN, PORT_MAX)
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  server.once('error', () => resolve(false))
  server.listen(port, '127.0.0.1', () => resolve(true))
  const free = await promise
  if (free) await new Promise((closed) => server.close(closed))
  return free
}
