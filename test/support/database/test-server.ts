import pg from 'pg'

/** Returns the URL of the PostgreSQL that all test processes of a run share. */
export function findTestServer(): string {
  const url = process.env['BURSAR_TEST_DATABASE_URL']
  if (url === undefined) throw new Error('run the tests with npm test: it starts the PostgreSQL that they need')
  return url
}

let pool: pg.Pool | undefined

/**
 * Runs a statement on the shared PostgreSQL, outside of the databases of tests. A process keeps its connection for the
 * next statement, because a new connection costs more processor time than most statements. The connection does not keep
 * the process alive.
 */
export async function runOnServer(text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
  return await openServerPool().query(text, [...values])
}

/** Does something that only one of the run's processes may do at a time. `lock` is a number that names it. */
export async function withServerLock(lock: number, work: () => Promise<void>): Promise<void> {
  const client = await openServerPool().connect()
  try {
    await client.query('select pg_advisory_lock($1)', [lock])
    await work()
  } finally {
    // The lock is released when the connection ends.
    client.release(true)
  }
}

function openServerPool(): pg.Pool {
  if (pool === undefined) {
    pool = new pg.Pool({ connectionString: findTestServer(), allowExitOnIdle: true, idleTimeoutMillis: 0 })
    // PostgreSQL ends the idle connection if it stops before this process does.
    pool.on('error', () => undefined)
  }
  return pool
}
