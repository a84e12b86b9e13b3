import { DatabaseError } from 'pg'

/** The database can't be reached, or cancelled a statement before a commit was sent. Nothing was recorded. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable'
}

/** The connection was lost during a commit, or during a write that commits on its own. The outcome is not known. */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown'
}

/**
 * The server is gone or refuses to serve us: connection exceptions, shutdowns, exhausted resources, and statements,
 * locks or idle transactions that took too long.
 */
const UNAVAILABLE_SQLSTATES = /^(08|53|55P03|57014|57P0|25P03)/
/** Serialization failure and deadlock: the transaction changed nothing and can be retried. */
const RETRYABLE_SQLSTATES: readonly (string | undefined)[] = ['40001', '40P01']
const UNIQUE_VIOLATION = '23505'

export function isRetryable(error: unknown): boolean {
  return error instanceof DatabaseError && RETRYABLE_SQLSTATES.includes(error.code)
}

/** Whether a statement violated this unique index. */
export function violatesUnique(error: unknown, index: string): boolean {
  return error instanceof DatabaseError && error.code === UNIQUE_VIOLATION && error.constraint === index
}

/**
 * Turns an error of the driver into ours: an error response of the server stays, a lost connection becomes
 * `DatabaseUnavailable`.
 */
export function translateError(error: unknown): unknown {
  if (error instanceof DatabaseError) {
    return UNAVAILABLE_SQLSTATES.test(error.code ?? '')
      ? new DatabaseUnavailable(error.message, { cause: error })
      : error
  }
  if (error instanceof DatabaseUnavailable || error instanceof CommitUnknown) return error
  return new DatabaseUnavailable('the database did not respond', { cause: error })
}
