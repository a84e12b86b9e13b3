import { APIConnectionTimeoutError, APIError } from '@privy-io/node'

/**
 * Why a call has no result. `refused` means that certainly nothing was done; `unknown` is everything else. `status` is null
 * if there was no response at all.
 */
export type Failure = (
  { readonly kind: 'refused'; readonly status: number } | { readonly kind: 'unknown'; readonly status: number | null }
) & {
  readonly code: string
  readonly reason: string
  /** Whether the body is the provider's own error, and not, for example, a proxy's error page. */
  readonly isProviderError: boolean
  readonly cause?: unknown
}

const REASON_CHARS_MAX = 300
const CODE_PATTERN = /^[a-z][a-z0-9_]{0,63}$/

/**
 * The statuses with which certainly nothing was done, with a code for responses that have none. 408, 409, 429 and 5xx are
 * missing, because a proxy or the enclave may return them after the operation was carried out.
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

/** Classifies an error of the SDK. For an `APIError`, its status and body decide, never its class or message. */
export function readFailure(error: unknown): Failure {
  if (error instanceof APIError && error.status !== undefined) return readErrorResponse(error.status, error.error)
  const code = isTimeout(error) ? 'timeout' : readSystemCode(error)
  // The cause is a socket error. It contains an address and a port, and nothing that was sent.
  const cause = error instanceof APIError ? error.cause : error
  return { kind: 'unknown', status: null, code, reason: 'no response', isProviderError: false, cause }
}

/** Classifies a response whose status is not a success. */
export function readErrorResponse(status: number, body: unknown): Failure {
  const { error, code } = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const reason = readReason(error)
  const isProviderError = typeof error === 'string'
  const refusingCode = REFUSING_STATUSES.get(status)
  const known = typeof code === 'string' && CODE_PATTERN.test(code) ? code : null
  // The provider documents no code for an expired request (it may have none, or that of any invalid data), only its
  // message. The message for a wrong signature also mentions "expired" keys, but means something else.
  if (status === 401 && (known === 'request_expired' || /\brequest has expired\b/i.test(reason))) {
    return { kind: 'refused', status, code: 'request_expired', reason, isProviderError }
  }
  if (refusingCode !== undefined)
    return { kind: 'refused', status, code: known ?? refusingCode, reason, isProviderError }
  return { kind: 'unknown', status, code: known ?? 'unexpected_status', reason, isProviderError }
}

/** A successful response that does not have the documented shape: something was done, but it is unknown what. */
export function malformedResponse(): Failure {
  const reason = 'malformed response'
  return { kind: 'unknown', status: 200, code: 'malformed_answer', reason, isProviderError: false }
}

function readReason(error: unknown): string {
  if (typeof error !== 'string' || error === '') return 'no reason given'
  return error.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(0, REASON_CHARS_MAX)
}

/** Returns whether the SDK's own time limit or an `AbortSignal`'s has ended the call. */
function isTimeout(error: unknown): boolean {
  return error instanceof APIConnectionTimeoutError || (error instanceof DOMException && error.name === 'TimeoutError')
}

function readSystemCode(error: unknown): string {
  // The SDK reads a successful response without checking it.
  if (error instanceof SyntaxError || error instanceof TypeError) return 'malformed_answer'
  const cause = error instanceof APIError ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code.toLowerCase() : 'no_answer'
}
