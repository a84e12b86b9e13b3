import pg from 'pg'
import type { Logger } from '../lib/logger.ts'

/**
 * How long an unused connection stays open. A new one costs the database server at least as much as dozens of short
 * statements, and its first statements cost more than later ones.
 */
const IDLE_MS = 60_000

/** Opens a connection pool. If an idle connection is lost, that is logged and does not end the process. */
export function openPool(config: pg.PoolConfig & pg.ClientConfig, logger: Logger): pg.Pool {
  const pool = new pg.Pool({ ...config, pipeline: true, idleTimeoutMillis: IDLE_MS })
  pool.on('error', (error) => logger.warn({ err: error }, 'an idle database connection was lost'))
  // If a connection is lost while it is in use, its query reports the failure. Without a listener, the error event
  // would also end the process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}
