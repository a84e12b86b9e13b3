import { createServer } from 'node:net'
import pg from 'pg'
import { migrate } from '../server/src/db/migrate.ts'
import { createClock } from '../server/src/lib/clock.ts'

/** Creates the benchmark's database, with the current schema. */
export async function createDatabase(serverUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  await client.query('create database bench')
  await client.end()
  const url = new URL(serverUrl)
  url.pathname = '/bench'
  await migrate(url.href, createClock())
  return url.href
}

/** Finds a port on which no process listens. */
export async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => {
    probe.listen(0, '127.0.0.1', resolve)
  })
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => {
    probe.close(resolve)
  })
  return port
}
