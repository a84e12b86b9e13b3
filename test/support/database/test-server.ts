import pg from 'pg'

/** Returns the URL of the PostgreSQL that all test processes of a run share. */
export function findTestServer(): string {
  const url = process.env['BURSAR_TEST_DATABASE_URL']
  if (url === undefined) throw new Error('run the tests with npm test: it starts the PostgreSQL that they need')
  return url
}

/** Does something that only one of the run's processes may do at a time. `lock` is a number that names it. */
export async function withServerLock(lock: number, work: (client: pg.Client) => Promise<void>): Promise<void> {
  await withClient(findTestServer(), async (client) => {
    // The lock is released when the connection ends.
    await client.query('select pg_advisory_lock($1)', [lock])
    await work(client)
  })
}

export async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
