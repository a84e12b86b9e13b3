import { EnclaveRefused, EnclaveUnavailable } from '../enclave/errors.ts'
import { problem, type ProblemCode } from '../values/problem.ts'

/**
 * Runs an operation that calls the enclave, and maps the enclave's errors to problems. People retry without an idempotency
 * key, so the problem says no more than what is known. `noResponse` is the problem if the enclave did not respond.
 */
export async function mapEnclaveErrors<Result>(
  work: Promise<Result>,
  noResponse: ProblemCode = 'enclave_outcome_unknown',
): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (error instanceof EnclaveUnavailable) throw problem(noResponse, { cause: error })
    if (error instanceof EnclaveRefused) throw problem('enclave_refused', { cause: error })
    throw error
  }
}
