import type pg from 'pg'
import type { Logger } from '../lib/logger.ts'
import { DatabaseUnavailable, translateError } from './errors.ts'
import { coalesceWrites } from './coalesce-writes.ts'
import { openPool } from './open-pool.ts'
import { readResults, type Query, type Results } from './query.ts'

/** They are opened when they are needed. */
const READERS = 3
/** A read that takes longer is cancelled by the server. */
const READ_TIMEOUT_MS = 5_000
/** So many wait for a reader, each as long as the pool's `connectionTimeoutMillis` at the most. */
const READS_WAITING_MAX = 100

/** The connections for reads that may take long: however many of them there are, no payment waits for one. */
export interface Readers {
  /** Runs the queries in one round trip. `DatabaseUnavailable` when too many wait, or one of them takes too long. */
  run<const Queries extends readonly Query<unknown>[]>(queries: Queries): Promise<Results<Queries>>
  close(): Promise<void>
}

export function openReaders(connection: pg.ClientConfig, logger: Logger): Readers {
  const pool = openPool({ ...connection, statement_timeout: READ_TIMEOUT_MS, max: READERS }, logger)
  return {
    async run<const Queries extends readonly Query<unknown>[]>(queries: Queries) {
      if (pool.waitingCount >= READS_WAITING_MAX) throw new DatabaseUnavailable('too many long reads wait')
      const client = await pool.connect().catch((error: unknown) => {
        throw translateError(error)
      })
      const sent = coalesceWrites(client, () =>
        queries.map(({ name, text, values }) => client.query({ name, text, values: [...values] })),
      )
      const outcomes = await Promise.allSettled(sent)
      const errors = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [translateError(outcome.reason)] : [],
      )
      // A statement that failed leaves the connection whole; a server that goes away tells so before it does.
      client.release(errors.some((error) => error instanceof DatabaseUnavailable))
      if (errors.length > 0) throw errors[0]
      return readResults(queries, await Promise.all(sent))
    },
    close: () => pool.end(),
  }
}
