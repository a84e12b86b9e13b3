import { EnclaveRefused, EnclaveUnavailable } from '../enclave/errors.ts'
import { problem, type ProblemCode } from '../values/problem.ts'

/**
 * Waits for an operation that calls the enclave, and maps the enclave's errors to errors for the caller. `noResponse`
 * is the error code if the enclave did not respond. By default it says that the outcome is unknown: people in the
 * dashboard retry without an idempotency key, so a retry may repeat the operation.
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
