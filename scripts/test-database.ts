import { startPostgres } from '../sandbox/src/postgres/start-postgres.ts'
import { findFreePort, isFreePort } from '../test/support/free-port.ts'

export interface TestDatabase {
  readonly url: string
  stop(): Promise<void>
}

/** How many times to try to start. Another program may start to use the port after we have found it free. */
const STARTS_MAX = 5
/** Each service in a test opens up to 30 connections, and several test processes run at once. */
const CONNECTIONS_MAX = 400

/**
 * Starts a throw-away PostgreSQL on a free port, with its files in `dataDir`. The data is not needed after the run, so
 * this PostgreSQL never waits for the disk.
 */
export async function startTestDatabase(dataDir: string): Promise<TestDatabase> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort()
    try {
      return await startPostgres({ dataDir, port, durable: false, maxConnections: CONNECTIONS_MAX })
    } catch (error) {
      if (attempt === STARTS_MAX || (await isFreePort(port))) throw error
    }
  }
}
