import { DatabaseError } from 'pg'
import type pg from 'pg'
import { openConnection, type ConnectionSource } from './database-servers.ts'
import { DatabaseReadOnly, DatabaseUnavailable, translateError } from './errors.ts'
import { coalesceWrites, enableCoalescing } from './coalesce-writes.ts'
import type { Query } from './query.ts'
import { readResult } from './query.ts'

/**
 * A connection shared by many callers. Statements are pipelined: each is sent without waiting for the previous result,
 * and each commits separately. The connection is opened on first use, and again after a failure, until it is closed.
 */
export interface PipelinedConnection {
  /** The number of statements without a result. */
  readonly running: number
  run<Result>(query: Query<Result>): Promise<Result>
  close(): Promise<void>
}

/** When statements are sent: all together at the end of the turn of the event loop, or each immediately. */
export type Sending = 'together' | 'at once'

export function openPipelinedConnection(
  source: ConnectionSource,
  { sending = 'together' }: { sending?: Sending } = {},
): PipelinedConnection {
  let connection: Promise<pg.Client> | null = null
  let current: pg.Client | null = null
  let running = 0
  let isClosed = false

  const connect = async (): Promise<pg.Client> => {
    try {
      const client = await openConnection({ ...source, client: { ...source.client, pipeline: true } })
      current = client
      for (const event of ['error', 'end'] as const) client.on(event, () => forget(client))
      return client
    } catch (error) {
      connection = null
      throw translateError(error)
    }
  }

  // Does nothing if a new connection has replaced this one, because a late event of the old connection must not drop the
  // new one.
  const forget = (client: pg.Client): void => {
    if (current !== client) return
    connection = null
    current = null
  }

  const send = (client: pg.Client, { name, text, values }: Query<unknown>): Promise<pg.QueryResult> => {
    const statement = { name, text, values: [...values] }
    if (sending === 'at once') return coalesceWrites(client, () => client.query(statement))
    enableCoalescing(client)
    return client.query(statement)
  }

  /** Runs a statement. If the connection is lost, or its server accepts no writes, the next statement opens another one. */
  const run = async <Result>(client: pg.Client, query: Query<Result>): Promise<Result> => {
    try {
      const result = await send(client, query).catch((error: unknown) => {
        throw translateError(error)
      })
      return readResult(query, result)
    } catch (error) {
      if (isOfNoUse(error) && current === client) {
        forget(client)
        // The end is not awaited: it waits for the statements in progress.
        client.end().catch(() => undefined)
      }
      throw error
    }
  }

  return {
    get running() {
      return running
    },
    async run(query) {
      if (isClosed) throw new DatabaseUnavailable('the database connections are closed')
      connection ??= connect()
      running += 1
      try {
        return await connection.then((client) => run(client, query))
      } finally {
        running -= 1
      }
    },
    async close() {
      isClosed = true
      const open = connection
      connection = null
      if (open !== null) await open.then((client) => client.end()).catch(() => undefined)
    },
  }
}

/** Returns whether no later statement can succeed on a connection. After any other error of the server, it can. */
function isOfNoUse(error: unknown): boolean {
  if (error instanceof DatabaseReadOnly) return true
  return error instanceof DatabaseUnavailable && !(error.cause instanceof DatabaseError)
}
