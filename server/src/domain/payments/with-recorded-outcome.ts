import { CommitUnknown, DatabaseUnavailable } from '../../db/errors.ts'
import { Problem } from '../../values/problem.ts'
import type { Payment } from './payment.ts'

/**
 * Awaits work on a payment that is already recorded. If the database fails during this work, throws a 500 that tells
 * the caller what to do (D58). The usual 503 would be wrong, because it says that no payment was created (D6).
 */
export async function withRecordedOutcome<Result>(
  work: Promise<Result>,
  payment: Pick<Payment, 'id' | 'idempotencyKey'>,
  message = `The payment ${payment.id} was created, but its result could not be saved. ${adviceOf(payment)}`,
): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable || error instanceof CommitUnknown)) throw error
    throw new Problem('internal', message, { cause: error })
  }
}

function adviceOf({ idempotencyKey }: Pick<Payment, 'idempotencyKey'>): string {
  return idempotencyKey === null
    ? 'Without an idempotency_key a retry could pay twice. Do not retry; read the payment instead.'
    : 'Retry with the same idempotency_key to get the result; it never pays twice.'
}
