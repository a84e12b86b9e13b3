import { APIConnectionTimeoutError, APIError } from '@privy-io/node'
import { cutText } from '../../lib/cut-text.ts'

/**
 * Why a call to the enclave failed. `refused` means that the enclave itself responded and certainly did nothing. In all
 * other cases the kind is `unknown`. `status` is null if there was no response.
 */
export type Failure = (
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'unknown'; readonly status: number | null }
) & {
  readonly code: string
  readonly reason: string
  /** Whether the enclave itself wrote the response's body. A proxy in between may have written it, as an error page. */
  readonly isProviderError: boolean
  readonly cause?: unknown
}

const REASON_CHARS_MAX = 300
const CODE_PATTERN = /^[a-z][a-z0-9_]{0,63}$/

/**
 * The HTTP statuses that mean that the enclave certainly did nothing. Each has the error code that we use if the
 * response has none. 408, 409, 429 and 5xx are not in the list, because a proxy or the enclave may return them although
 * the operation was carried out.
 */
const REFUSING_STATUSES: ReadonlyMap<number, string> = new Map([
  [400, 'bad_request'],
  [401, 'unauthorized'],
  [402, 'payment_failed'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [413, 'too_large'],
  [414, 'url_too_long'],
  [415, 'unsupported_media_type'],
  [422, 'unprocessable'],
  [431, 'headers_too_large'],
])

/**
 * Classifies an error that the SDK threw. If it is an `APIError` with a status, only the status and the body decide,
 * not the error's subclass or message.
 */
export function readFailure(error: unknown): Failure {
  if (error instanceof APIError && error.status !== undefined) return readErrorResponse(error.status, error.error)
  const code = isTimeout(error) ? 'timeout' : readSystemCode(error)
  // The cause is a socket error. It contains an IP address and a port, and nothing that we sent.
  const cause = error instanceof APIError ? error.cause : error
  return { kind: 'unknown', status: null, code, reason: 'no response', isProviderError: false, cause }
}

/**
 * Classifies a response whose status is an error. If the enclave did not write the body, the status proves nothing: a
 * proxy can return any status after the enclave has carried out the operation.
 */
export function readErrorResponse(status: number, body: unknown): Failure {
  const { error, code } = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const reason = readReason(error)
  const isProviderError = typeof error === 'string'
  const refusingCode = REFUSING_STATUSES.get(status)
  const known = typeof code === 'string' && CODE_PATTERN.test(code) ? code : null
  const unknown = { kind: 'unknown', status, code: known ?? refusingCode ?? 'unexpected_status', reason } as const
  if (!isProviderError) return { ...unknown, isProviderError }
  // The provider documents only the message for an expired request. The code may be missing, or be the general code for
  // invalid data. The message for a wrong signature also contains the word "expired", about keys, so we match the whole
  // phrase.
  if (status === 401 && (known === 'request_expired' || /\brequest has expired\b/i.test(reason))) {
    return { kind: 'refused', status, code: 'request_expired', reason, isProviderError }
  }
  if (refusingCode !== undefined)
    return { kind: 'refused', status, code: known ?? refusingCode, reason, isProviderError }
  return { ...unknown, isProviderError }
}

/**
 * Returns the failure for a response with a successful status but an undocumented body. The enclave did something, but
 * we do not know what.
 */
export function malformedResponse(): Failure {
  const reason = 'malformed response'
  return { kind: 'unknown', status: 200, code: 'malformed_answer', reason, isProviderError: false }
}

function readReason(error: unknown): string {
  if (typeof error !== 'string' || error === '') return 'no reason given'
  return cutText(error.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' '), REASON_CHARS_MAX)
}

/** Returns whether a time limit ended the call: the SDK's own limit, or that of an `AbortSignal`. */
function isTimeout(error: unknown): boolean {
  return error instanceof APIConnectionTimeoutError || (error instanceof DOMException && error.name === 'TimeoutError')
}

function readSystemCode(error: unknown): string {
  // The SDK does not validate successful responses, so a malformed one causes an error inside the SDK.
  if (error instanceof SyntaxError || error instanceof TypeError) return 'malformed_answer'
  const cause = error instanceof APIError ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code.toLowerCase() : 'no_answer'
}
