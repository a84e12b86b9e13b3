import type { FastifyError } from 'fastify'
import { ChainUnavailable } from '../chain/errors.ts'
import { DatabaseUnavailable } from '../db/errors.ts'
import { EnclaveRefused, EnclaveUnavailable } from '../enclave/errors.ts'
import { Problem, problem } from '../values/problem.ts'
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from './limits.ts'

/** The framework's errors that are the caller's, by its code, else by status. */
const FRAMEWORK_PROBLEMS: Readonly<Record<string, Problem>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new Problem(
    'unsupported_media_type',
    'Send the body as JSON, with Content-Type: application/json.',
  ),
  FST_ERR_CTP_BODY_TOO_LARGE: new Problem('payload_too_large', 'The body is larger than 64 KiB.'),
  FST_ERR_CTP_EMPTY_JSON_BODY: new Problem('validation_failed', 'The body is empty. Send a JSON object.'),
  FST_ERR_BAD_URL: new Problem('not_found', 'No such path.'),
  FST_ERR_MAX_PARAM_LENGTH: new Problem('not_found', 'No such path.'),
}

/** The one place where anything thrown becomes an answer. What is not the caller's to know stays behind. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof DatabaseUnavailable || error instanceof ChainUnavailable) {
    return new Problem('unavailable', 'The service is out of reach for a moment. Nothing was recorded. Try again.', {
      cause: error,
      retryAfterSeconds: UNAVAILABLE_RETRY_AFTER_SECONDS,
    })
  }
  if (error instanceof EnclaveUnavailable || error instanceof EnclaveRefused) {
    return problem('privy_call_failed', { cause: error })
  }
  if (isFrameworkError(error)) return fromFramework(error)
  return new Problem('internal', 'Something went wrong on our side.', { cause: error })
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
    return new Problem('validation_failed', 'The request could not be read. Send a JSON object.', { cause: error })
  }
  return new Problem('internal', 'Something went wrong on our side.', { cause: error })
}

/** A body can have very many members that we don't know, and long ones. */
const ISSUES_MAX = 50
const MEMBER_CHARS_MAX = 64

/** `details` lists the issues, the first 50 of them: which member, and what is wrong with it. */
export function toValidationProblem(error: Pick<FastifyError, 'validation'>): Problem {
  const details = (error.validation ?? [])
    .slice(0, ISSUES_MAX)
    .map(({ keyword, instancePath, params, message = 'is not valid' }) => ({
      path: memberPath(instancePath, params),
      message: keyword === 'additionalProperties' ? 'is not a member of this request' : message,
    }))
  const first = details[0]
  const message = first === undefined ? 'The request is not valid.' : `${first.path || 'The body'} ${first.message}.`
  return new Problem('validation_failed', message, { details })
}

function memberPath(instancePath: string, params: Record<string, unknown>): string {
  const path = instancePath.split('/').slice(1)
  const named = params['missingProperty'] ?? params['additionalProperty']
  if (typeof named === 'string') path.push(cutMember(named))
  return path.join('.')
}

function cutMember(name: string): string {
  return name.length <= MEMBER_CHARS_MAX ? name : `${name.slice(0, MEMBER_CHARS_MAX).toWellFormed()}…`
}
