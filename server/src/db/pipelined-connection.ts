import pg from 'pg'
import { DatabaseUnavailable, translateError } from './errors.ts'
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
  config: pg.ClientConfig,
  { sending = 'together' }: { sending?: Sending } = {},
): PipelinedConnection {
  let connection: Promise<pg.Client> | null = null
  let current: pg.Client | null = null
  let running = 0
  let isClosed = false

  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ ...config, pipeline: true })
    // Does nothing if a new connection has replaced this one, because a late event of the old connection must not drop
    // the new one.
    const forget = (): void => {
      if (current !== client) return
      connection = null
      current = null
    }
    current = client
    client.on('error', forget)
    client.on('end', forget)
    try {
      await client.connect()
    } catch (error) {
      forget()
      throw error
    }
    return client
  }

  return {
    get running() {
      return running
    },
    async run(query) {
      if (isClosed) throw new DatabaseUnavailable('the database connections are closed')
      connection ??= connect()
      running += 1
      const result = await connection
        .then((client) => {
          const statement = { name: query.name, text: query.text, values: [...query.values] }
          if (sending === 'at once') return coalesceWrites(client, () => client.query(statement))
          enableCoalescing(client)
          return client.query(statement)
        })
        .catch((error: unknown) => {
          throw translateError(error)
        })
        .finally(() => {
          running -= 1
        })
      return readResult(query, result)
    },
    async close() {
      isClosed = true
      const open = connection
      connection = null
      if (open !== null) await open.then((client) => client.end()).catch(() => undefined)
    },
  }
}
