import { DatabaseError } from 'pg'

/** The database could not be reached, or it cancelled a statement before we sent a commit. Nothing was stored. */
export class DatabaseUnavailable extends Error {
  override readonly name: string = 'DatabaseUnavailable'
}

/** The server accepts no writes, for example because it is a standby. Nothing was stored. The connection is of no use. */
export class DatabaseReadOnly extends DatabaseUnavailable {
  override readonly name = 'DatabaseReadOnly'
}

/**
 * The connection was lost during a commit, or during a single statement outside a transaction. It is unknown whether
 * the change was stored.
 */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown'
}

/**
 * SQLSTATE codes that mean that the database server is unavailable: connection exceptions, shutdowns, exhausted
 * resources, and time limits of statements, locks and idle transactions.
 */
const UNAVAILABLE_SQLSTATES = /^(08|53|55P03|57014|57P0|25P03)/
/** Serialization failure and deadlock: the transaction changed nothing and can be retried. */
const RETRYABLE_SQLSTATES: readonly (string | undefined)[] = ['40001', '40P01']
const UNIQUE_VIOLATION = '23505'
const CHECK_VIOLATION = '23514'
const LOCK_NOT_AVAILABLE = '55P03'
const READ_ONLY = '25006'

export function isRetryable(error: unknown): boolean {
  return error instanceof DatabaseError && RETRYABLE_SQLSTATES.includes(error.code)
}

/** Returns whether a statement waited longer for a lock than its connection allows. The statement changed nothing. */
export function isLockTimeout(error: unknown): boolean {
  return (
    error instanceof DatabaseUnavailable &&
    error.cause instanceof DatabaseError &&
    error.cause.code === LOCK_NOT_AVAILABLE
  )
}

/**
 * Returns whether a statement failed because of a value that it tried to store: one that its type cannot hold, or that a
 * constraint forbids (SQLSTATE classes 22 and 23).
 */
export function isRejectedValue(error: unknown): boolean {
  return error instanceof DatabaseError && /^2[23]/.test(error.code ?? '')
}

/** Returns whether a statement failed because it violated this unique index. */
export function violatesUnique(error: unknown, index: string): boolean {
  return violates(error, UNIQUE_VIOLATION, index)
}

/** Returns whether a statement failed because it violated this check constraint. */
export function violatesCheck(error: unknown, constraint: string): boolean {
  return violates(error, CHECK_VIOLATION, constraint)
}

/**
 * Citus names the constraint of a table on a worker in the message only, possibly with the number of the shard. And if
 * the coordinator copies the rows to the worker, the error has another code.
 */
function violates(error: unknown, code: string, constraint: string): boolean {
  if (!(error instanceof DatabaseError)) return false
  if (error.constraint !== undefined) return error.code === code && error.constraint === constraint
  return new RegExp(`constraint "${constraint}(?:_\\d+)?"`).test(error.message)
}

/**
 * Translates an error of the driver. A lost connection, or a server that is unavailable, becomes `DatabaseUnavailable`,
 * and a server that accepts no writes `DatabaseReadOnly`.
 * Any other error response of the server is returned unchanged.
 */
export function translateError(error: unknown): unknown {
  if (error instanceof DatabaseError) {
    if (error.code === READ_ONLY) return new DatabaseReadOnly(error.message, { cause: error })
    return UNAVAILABLE_SQLSTATES.test(error.code ?? '')
      ? new DatabaseUnavailable(error.message, { cause: error })
      : error
  }
  if (error instanceof DatabaseUnavailable || error instanceof CommitUnknown) return error
  return new DatabaseUnavailable('the database did not respond', { cause: error })
}
