import type { FairPlaces } from '../lib/fair-places.ts'
import type { Logger } from '../lib/logger.ts'
import { DatabaseUnavailable, translateError } from './errors.ts'
import { coalesceWrites } from './coalesce-writes.ts'
import type { ConnectionSource } from './database-servers.ts'
import { openPool, type ConnectionPool } from './open-pool.ts'
import { readResults, type Query, type Results } from './query.ts'

/** The database server cancels a read that takes longer. */
const READ_TIMEOUT_MS = 5_000

/** Separate connections for reads that may take a long time, so that no payment waits for such a read. */
export interface Readers {
  /**
   * Runs the queries in one round trip. `group` is the workspace that reads: workspaces share the connections, and take
   * turns while they wait. Without a group, the read belongs to the service itself. Throws `DatabaseUnavailable` if too
   * many reads are waiting, or if a query takes too long.
   */
  run<const Queries extends readonly Query<unknown>[]>(
    queries: Queries,
    group: string | null,
  ): Promise<Results<Queries>>
  close(): Promise<void>
}

export function openReaders(source: ConnectionSource, places: FairPlaces, logger: Logger): Readers {
  const pool = openPool(
    { ...source, settings: { ...source.settings, statement_timeout: String(READ_TIMEOUT_MS) } },
    places.placesMax,
    logger,
  )
  return {
    run: (queries, group) => places.run(group, { full: tooMany }, () => runQueries(pool, queries)),
    close: () => pool.end(),
  }
}

function tooMany(): Error {
  return new DatabaseUnavailable('too many long reads are waiting')
}

async function runQueries<const Queries extends readonly Query<unknown>[]>(
  pool: ConnectionPool,
  queries: Queries,
): Promise<Results<Queries>> {
  const client = await pool.connect().catch((error: unknown) => {
    throw translateError(error)
  })
  const sent = coalesceWrites(client, () =>
    queries.map(({ name, text, values }) => client.query({ name, text, values: [...values] })),
  )
  const outcomes = await Promise.allSettled(sent)
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [translateError(outcome.reason)] : []))
  // The connection stays usable after a failed statement, unless the error says that the server is unavailable.
  client.release(errors.some((error) => error instanceof DatabaseUnavailable))
  if (errors.length > 0) throw errors[0]
  return readResults(queries, await Promise.all(sent))
}
