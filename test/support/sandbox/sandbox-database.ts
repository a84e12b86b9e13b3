import { readFileSync } from 'node:fs'
import pg from 'pg'
import { addressesFrom } from '../../../sandbox/src/addresses.ts'
import { postgresDir } from '../../../sandbox/src/state/data-dir-layout.ts'
import type { QueryResultRow as Row } from 'pg'

/** A sandbox's PostgreSQL. Tests read it directly, without the service. */
export interface SandboxDatabase {
  readonly url: string
  readonly query: (text: string, values?: readonly unknown[]) => Promise<Row[]>
}

/**
 * Returns access to the sandbox's PostgreSQL. Queries share connections, because tests repeat a query until its answer
 * changes, and a new connection costs as much processor time as about 20 such queries. Nobody has to close the
 * connections: they end with the sandbox, and do not keep this process alive.
 */
export function findSandboxDatabase({ dataDir, port }: { dataDir: string; port: number }): SandboxDatabase {
  const password = readFileSync(`${postgresDir(dataDir)}.password`, 'utf8').trim()
  const url = `postgres://bursar:${password}@127.0.0.1:${addressesFrom(port).ports.postgres}/bursar`
  const pool = new pg.Pool({ connectionString: url, allowExitOnIdle: true })
  // PostgreSQL ends the idle connections when it stops, and when a test kills it. The next query opens a new one.
  pool.on('error', () => undefined)
  return { url, query: async (text, values = []) => (await pool.query<Row>(text, [...values])).rows }
}
