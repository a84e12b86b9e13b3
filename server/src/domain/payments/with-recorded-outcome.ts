import { CommitUnknown, DatabaseUnavailable } from '../../db/errors.ts'
import { Problem } from '../../values/problem.ts'

/** Work on a payment that is recorded: a database that is lost now must not answer that nothing was recorded (D6). */
export async function withRecordedOutcome<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable || error instanceof CommitUnknown)) throw error
    const message =
      'The payment is recorded, but its outcome could not be. Retry with the same idempotency_key; without one, do not retry.'
    throw new Problem('internal', message, { cause: error })
  }
}
