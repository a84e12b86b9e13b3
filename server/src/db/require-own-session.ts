import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { OperatorError } from '../lib/operator-error.ts'

export const SESSION_SHARED =
  'DATABASE_URL leads to a connection pooler that gives each transaction another session of PostgreSQL, and the service ' +
  'needs one session for each connection: set the pooler to session mode (pgbouncer: pool_mode = session), or connect ' +
  'to PostgreSQL directly'

/** A busy pooler may by chance give both connections the sessions that they had before. */
const PROBES = 5

/**
 * Throws unless each connection has a session for itself. Otherwise, the statements that we prepare would be missing in
 * one session and exist already in another one, and our settings would apply to statements of other connections.
 * `openSecond` opens another connection to the same server.
 */
export async function requireOwnSession(client: pg.Client, openSecond: () => Promise<pg.Client>): Promise<void> {
  if (!(await hasOwnSession(client, openSecond))) throw new OperatorError(SESSION_SHARED)
}

export async function hasOwnSession(client: pg.Client, openSecond: () => Promise<pg.Client>): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  // PostgreSQL itself reports the session's process when a connection is opened. A pooler reports another number.
  if ('processID' in client && client.processID === rows[0]?.pid) return true
  const second = await openSecond()
  try {
    for (let probe = 1; probe <= PROBES; probe += 1) {
      if (await probeSharing(client, second)) return false
    }
    return true
  } finally {
    await second.end()
  }
}

/** Returns whether a setting of the first connection's session is seen by the second one, or is lost. */
async function probeSharing(first: pg.Client, second: pg.Client): Promise<boolean> {
  const mark = randomUUID()
  await first.query(`select set_config('bursar.session', $1, false)`, [mark])
  await second.query('begin')
  try {
    // While the second connection is in a transaction, it keeps its session, and the first one cannot get it.
    return (await readMark(second)) === mark || (await readMark(first)) !== mark
  } finally {
    await second.query('rollback')
  }
}

async function readMark(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query<{ mark: string | null }>(`select current_setting('bursar.session', true) as mark`)
  return rows[0]?.mark ?? null
}
