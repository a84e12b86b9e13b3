import type { FastifyError } from 'fastify'
import { ChainUnavailable } from '../chain/errors.ts'
import { DatabaseUnavailable } from '../db/errors.ts'
import { EnclaveRefused, EnclaveUnavailable } from '../enclave/errors.ts'
import { Problem, problem } from '../values/problem.ts'
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from './limits.ts'

/** Errors of the framework that the caller caused, by their code. */
const FRAMEWORK_PROBLEMS: Readonly<Record<string, Problem>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new Problem(
    'unsupported_media_type',
    'Send the body as JSON, with Content-Type: application/json.',
  ),
  FST_ERR_CTP_BODY_TOO_LARGE: new Problem('payload_too_large', 'The request body is larger than 64 KiB.'),
  FST_ERR_CTP_EMPTY_JSON_BODY: new Problem('validation_failed', 'The request body is empty. Send a JSON object.'),
  FST_ERR_BAD_URL: new Problem('not_found', 'There is no endpoint at this path.'),
  FST_ERR_MAX_PARAM_LENGTH: new Problem('not_found', 'There is no endpoint at this path.'),
}

/**
 * Turns anything that was thrown into an error response. This is the only place that does. Private details are left
 * out.
 */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof DatabaseUnavailable || error instanceof ChainUnavailable) {
    return new Problem(
      'unavailable',
      'The service is temporarily unavailable. Nothing was recorded. Retry after the time in the Retry-After header.',
      {
        cause: error,
        retryAfterSeconds: UNAVAILABLE_RETRY_AFTER_SECONDS,
      },
    )
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
    return new Problem('validation_failed', 'The request body could not be parsed. Send a JSON object.', {
      cause: error,
    })
  }
  return new Problem('internal', 'Something went wrong on our side.', { cause: error })
}

/** A body can contain many unknown members, and members with long names. */
const ISSUES_MAX = 50
const MEMBER_CHARS_MAX = 64

/** Sentences for keywords whose own would repeat the member's name, or speak of a schema. */
const MESSAGES: Readonly<Record<string, string>> = {
  required: 'is required',
  additionalProperties: 'is not a member of this request',
}

/** `details` lists the first 50 issues: the path of the member, and what is wrong with it. */
export function toValidationProblem(error: Pick<FastifyError, 'validation'>): Problem {
  const details = (error.validation ?? [])
    .slice(0, ISSUES_MAX)
    .map(({ keyword, instancePath, params, message = 'is not valid' }) => ({
      path: memberPath(instancePath, params),
      message: MESSAGES[keyword] ?? message,
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
