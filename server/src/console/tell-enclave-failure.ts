import { EnclaveRefused, EnclaveUnavailable } from '../enclave/errors.ts'
import { problem } from '../values/problem.ts'

/** Runs what asks the enclave for something. People retry without a key, so they are told what is known, and no more. */
export async function tellEnclaveFailure<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (error instanceof EnclaveUnavailable) throw problem('enclave_outcome_unknown', { cause: error })
    if (error instanceof EnclaveRefused) throw problem('enclave_refused', { cause: error })
    throw error
  }
}
