import type { FastifyError } from 'fastify'
import { ChainUnavailable } from '../chain/errors.ts'
import { DatabaseUnavailable } from '../db/errors.ts'
import { EnclaveOutOfReach, EnclaveRefused, EnclaveUnavailable } from '../enclave/errors.ts'
import { JSON_LEVELS_MAX } from '../lib/parse-json.ts'
import { Problem, problem } from '../values/problem.ts'
import { invalidRequest } from '../values/invalid-request.ts'
import { TurnedAway } from './overload-gate.ts'
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from './limits.ts'
import { listIssues } from './list-issues.ts'

/** The messages of the errors without a code that every endpoint of an API can have. */
export const MESSAGES = {
  payload_too_large: 'The request body is larger than 64 KiB.',
  unsupported_media_type: 'Send the body as JSON, with Content-Type: application/json.',
  unavailable:
    'The service is temporarily unavailable. Nothing was recorded. Retry after the time in the Retry-After header.',
} as const

/** The problems that we respond with when the framework rejects a request, by the framework's error code. */
const FRAMEWORK_PROBLEMS: Readonly<Record<string, Problem>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new Problem('unsupported_media_type', MESSAGES.unsupported_media_type),
  FST_ERR_CTP_BODY_TOO_LARGE: new Problem('payload_too_large', MESSAGES.payload_too_large),
  FST_ERR_CTP_EMPTY_JSON_BODY: new Problem('validation_failed', 'The request body is empty. Send a JSON object.'),
  FST_ERR_BAD_URL: new Problem('not_found', 'There is no endpoint at this path.'),
  FST_ERR_MAX_PARAM_LENGTH: new Problem('not_found', 'There is no endpoint at this path.'),
}

function unavailable(cause?: unknown): Problem {
  return new Problem('unavailable', MESSAGES.unavailable, { cause, retryAfterSeconds: UNAVAILABLE_RETRY_AFTER_SECONDS })
}

const UNAVAILABLE = [DatabaseUnavailable, ChainUnavailable, EnclaveOutOfReach]

/** Created once, because it has to be cheap to turn a request away. */
const TURNED_AWAY = unavailable()

/**
 * Converts anything that was thrown into a `Problem`, which becomes the error response. Private details are left out.
 * Every error handler uses this function.
 */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof TurnedAway) return TURNED_AWAY
  if (UNAVAILABLE.some((kind) => error instanceof kind)) return unavailable(error)
  if (error instanceof EnclaveUnavailable || error instanceof EnclaveRefused) {
    return problem('privy_call_failed', { cause: error })
  }
  if (isFrameworkError(error)) return fromFramework(error)
  return new Problem(
    'internal',
    'Something went wrong on our side. If it happens again, contact the server operator.',
    { cause: error },
  )
}

/** The body of a request is nested more deeply than code that visits all of it could bear. */
export function bodyTooDeep(): Problem {
  return new Problem('validation_failed', `The body is nested too deeply: at most ${JSON_LEVELS_MAX} levels.`)
}

function isFrameworkError(error: unknown): error is FastifyError {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
}

function fromFramework(error: FastifyError): Problem {
  if (error.validation !== undefined) return toValidationProblem(error)
  const known = FRAMEWORK_PROBLEMS[error.code]
  if (known !== undefined) return known
  const status = error.statusCode ?? 500
  if (status >= 400 && status < 500) {
    return new Problem('validation_failed', 'The request body could not be parsed. Send a JSON object.', {
      cause: error,
    })
  }
  return new Problem(
    'internal',
    'Something went wrong on our side. If it happens again, contact the server operator.',
    { cause: error },
  )
}

/**
 * Returns the problem of a request that does not match its schema. `details` lists the first 50 issues, each with the
 * path of the member and a sentence that says what is wrong with it.
 */
export function toValidationProblem({ validation }: Pick<FastifyError, 'validation'>): Problem {
  return invalidRequest(listIssues(validation ?? []))
}
