import pg from 'pg'
import type { Logger } from '../lib/logger.ts'

/** A pool whose lost connections are told in the log, and end nothing else. */
export function openPool(config: pg.PoolConfig & pg.ClientConfig, logger: Logger): pg.Pool {
  const pool = new pg.Pool({ ...config, pipeline: true })
  pool.on('error', (error) => logger.warn({ err: error }, 'an idle database connection was lost'))
  // A connection that is lost while somebody has it fails what they do; its event must not end the process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}
