import { readFileSync } from 'node:fs'
import pg from 'pg'
import { addressesFrom } from '../../../sandbox/src/addresses.ts'
import { postgresDir } from '../../../sandbox/src/processes/data-dir-layout.ts'
import type { QueryResultRow as Row } from 'pg'

/** A sandbox's PostgreSQL. Tests read it directly, without the service. */
export interface SandboxDatabase {
  readonly url: string
  readonly query: (text: string, values?: readonly unknown[]) => Promise<Row[]>
}

export function findSandboxDatabase({ dataDir, port }: { dataDir: string; port: number }): SandboxDatabase {
  const password = readFileSync(`${postgresDir(dataDir)}.password`, 'utf8').trim()
  const url = `postgres://bursar:${password}@127.0.0.1:${addressesFrom(port).ports.postgres}/bursar`
  return {
    url,
    query: async (text, values = []) => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      try {
        return (await client.query(text, [...values])).rows as Row[]
      } finally {
        await client.end()
      }
    },
  }
}
