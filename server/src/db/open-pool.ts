import pg from 'pg'
import type { Logger } from '../lib/logger.ts'

/** Opens a pool. A connection that is lost while idle is logged and does not end the process. */
export function openPool(config: pg.PoolConfig & pg.ClientConfig, logger: Logger): pg.Pool {
  const pool = new pg.Pool({ ...config, pipeline: true })
  pool.on('error', (error) => logger.warn({ err: error }, 'an idle database connection was lost'))
  // If a connection is lost while it is in use, its query fails. The event must not end the process as well.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}
