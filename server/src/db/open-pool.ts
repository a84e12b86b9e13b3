import pg from 'pg'
import type { Logger } from '../lib/logger.ts'
import { prepareSession, type ConnectionSource } from './database-servers.ts'

/**
 * How long an unused connection stays open. A new one costs the database server at least as much as dozens of short
 * statements, and its first statements cost more than later ones.
 */
const IDLE_MS = 60_000

/** The driver waits for the promise, although its types do not say so. */
type PoolOptions = Omit<pg.PoolConfig, 'onConnect'> & { readonly onConnect: (client: pg.ClientBase) => Promise<void> }

/** Connections that are kept for the next user. */
export interface ConnectionPool {
  connect(): Promise<pg.PoolClient>
  end(): Promise<void>
}

/**
 * Opens a connection pool of at most `max` connections to each server. Only the connections to one server are used at a
 * time. If an idle connection is lost, that is logged and does not end the process.
 */
export function openPool(source: ConnectionSource, max: number, logger: Logger): ConnectionPool {
  const { servers, client } = source
  const pools = new Map(servers.urls.map((url) => [url, openServerPool(url)]))

  function openServerPool(connectionString: string): pg.Pool {
    const options: PoolOptions = {
      ...client,
      connectionString,
      max,
      pipeline: true,
      idleTimeoutMillis: IDLE_MS,
      // All connections of the pool are of this class.
      onConnect: (connection) => prepareSession(connection as pg.Client, source),
    }
    const pool = new pg.Pool(options)
    pool.on('error', (error) => logger.warn({ err: error }, 'an idle database connection was lost'))
    // If a connection is lost while it is in use, its query reports the failure. Without a listener, the error event
    // would also end the process.
    pool.on('connect', (connection) => connection.on('error', () => undefined))
    return pool
  }

  return {
    connect: () =>
      servers.connect((url) => {
        const pool = pools.get(url)
        if (pool === undefined) throw new Error('a server has no pool')
        return pool.connect()
      }),
    end: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.end()))
    },
  }
}
