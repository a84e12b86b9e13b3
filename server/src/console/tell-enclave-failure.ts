import { EnclaveRefused, EnclaveUnavailable } from '../enclave/errors.ts'
import { problem, type ProblemCode } from '../values/problem.ts'

/**
 * Runs what asks the enclave for something. People retry without a key, so they are told what is known, and no more:
 * `unanswered` is what it comes to when the enclave did not answer.
 */
export async function tellEnclaveFailure<Result>(
  work: Promise<Result>,
  unanswered: ProblemCode = 'enclave_outcome_unknown',
): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (error instanceof EnclaveUnavailable) throw problem(unanswered, { cause: error })
    if (error instanceof EnclaveRefused) throw problem('enclave_refused', { cause: error })
    throw error
  }
}
