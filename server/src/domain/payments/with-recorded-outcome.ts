import { CommitUnknown, DatabaseUnavailable } from '../../db/errors.ts'
import { Problem } from '../../values/problem.ts'

/**
 * Runs work on a payment that is already recorded. If the database fails now, the usual 503 would be wrong, because it
 * says that no payment was created (D6). Throws a 500 instead that says what to do.
 */
export async function withRecordedOutcome<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable || error instanceof CommitUnknown)) throw error
    const message =
      'The payment was created, but its result could not be saved. Retry with the same idempotency_key to get the result. Without an idempotency_key, do not retry: a retry could pay twice.'
    throw new Problem('internal', message, { cause: error })
  }
}
