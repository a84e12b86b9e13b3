import { createApiError, type ReceivedError } from './api-error.ts'
import { AbortedError, ConnectionError, TimeoutError, type BursarError, type ErrorContext } from './errors.ts'
import type { Runtime } from './runtime.ts'

/** One request, as it goes over the wire. */
export interface WireRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  /** The body as JSON, or null for a request without a body. */
  readonly body: string | null
  readonly credential: string
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

/** The response to a request that succeeded. */
export interface Success<T> {
  readonly kind: 'success'
  readonly data: T
  readonly status: number
  readonly headers: Headers
}

/** Why an attempt has failed, and what the failure means for the next attempt. */
export interface Failure {
  readonly kind: 'failure'
  readonly status: number | null
  readonly requestId: string | null
  /** Whether the same request may succeed if it is sent again. */
  readonly isRetryable: boolean
  readonly retryAfterSeconds: number | null
  /** False only if this attempt certainly paid nothing, and never will. */
  readonly mayHavePaid: boolean
  createError(context: ErrorContext): BursarError
}

/** With a status of 500 or more, an error of one of these types says that nothing was recorded and nothing was paid. */
const NOTHING_PAID_TYPES = ['unavailable', 'bad_gateway']
const RETRYABLE_STATUSES = [408, 429]
const SERVER_ERROR_MIN = 500
const REDIRECT_MIN = 300
const CLIENT_ERROR_MIN = 400
const MS_PER_SECOND = 1_000
/** No response of the service is as large. The largest one lists every grant of a workspace. */
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024

/**
 * Sends a request once, and reads the whole response. Never throws. `read` returns null if the body is not what the
 * operation returns. It gets the body parsed, and as a text.
 */
export async function makeAttempt<T>(
  runtime: Runtime,
  request: WireRequest,
  read: (body: unknown, text: string) => T | null,
): Promise<Success<T> | Failure> {
  const end = new AbortController()
  let isTimeout = false
  const onAbort = (): void => end.abort(request.signal?.reason)
  request.signal?.addEventListener('abort', onAbort)
  const stopTimer = runtime.startTimer(request.timeoutMs, () => {
    isTimeout = true
    end.abort()
  })
  try {
    const response = await runtime.fetch(request.url, createInit(request, end.signal))
    const text = await readText(response)
    if (text === null) {
      end.abort()
      return tooLargeFailure(response)
    }
    return readResponse(response, text, { read, now: runtime.now() })
  } catch (error) {
    if (request.signal?.aborted === true) return abortFailure(request.signal)
    return isTimeout ? timeoutFailure(request.timeoutMs) : lostFailure(error)
  } finally {
    stopTimer()
    request.signal?.removeEventListener('abort', onAbort)
  }
}

/** Reads the body of a response as text. Returns null if it is larger than `RESPONSE_BYTES_MAX`. */
async function readText({ body }: Response): Promise<string | null> {
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.length
    if (bytes > RESPONSE_BYTES_MAX) return null
    text += decoder.decode(value, { stream: true })
  }
}

function createInit({ method, body, credential }: WireRequest, signal: AbortSignal): RequestInit {
  const headers: Record<string, string> = { accept: 'application/json', authorization: `Bearer ${credential}` }
  if (body !== null) headers['content-type'] = 'application/json'
  // A redirect would send the credential and the payment to an address that nobody has configured.
  return { method, headers, signal, redirect: 'manual', ...(body === null ? {} : { body }) }
}

function readResponse<T>(
  response: Response,
  text: string,
  { read, now }: { read: (body: unknown, text: string) => T | null; now: number },
): Success<T> | Failure {
  const { status, headers } = response
  const body = parseJson(text)
  const isSuccess = status >= 200 && status < REDIRECT_MIN
  const data = isSuccess ? read(body, text) : null
  if (data !== null) return { kind: 'success', data, status, headers }
  const error = status >= CLIENT_ERROR_MIN ? readError(body) : null
  return error === null ? unreadableFailure(response) : errorFailure(response, error, now)
}

/** The service said why it rejected the request. */
function errorFailure(response: Response, error: ReceivedError, now: number): Failure {
  const { status } = response
  const retryAfterSeconds = readRetryAfter(response.headers, now)
  return {
    kind: 'failure',
    status,
    requestId: response.headers.get('request-id'),
    isRetryable: status >= SERVER_ERROR_MIN || RETRYABLE_STATUSES.includes(status),
    retryAfterSeconds,
    mayHavePaid: status >= SERVER_ERROR_MIN && !NOTHING_PAID_TYPES.includes(error.type),
    createError: (context) => createApiError(error, { status, retryAfterSeconds }, context),
  }
}

/** Something between the client and the service responded, or the response is damaged. The request may have arrived. */
function unreadableFailure({ status, headers }: Response): Failure {
  // A browser hides the status of a redirect, and reports 0 instead.
  const isRedirect = status === 0 || (status >= REDIRECT_MIN && status < CLIENT_ERROR_MIN)
  const advice = isRedirect ? ` The server redirects${describeTarget(headers)}: check baseUrl.` : ''
  const isRejected = status >= REDIRECT_MIN && status < SERVER_ERROR_MIN && !RETRYABLE_STATUSES.includes(status)
  return {
    kind: 'failure',
    status,
    requestId: headers.get('request-id'),
    isRetryable: !isRedirect && !isRejected,
    retryAfterSeconds: null,
    mayHavePaid: true,
    createError: (context) =>
      new ConnectionError(`The response (status ${status}) is not one of the Bursar API.${advice}`, context),
  }
}

/** Names only the origin of the address, because its query may contain secrets. */
function describeTarget(headers: Headers): string {
  const location = headers.get('location') ?? ''
  return URL.canParse(location) ? ` to ${new URL(location).origin}` : ''
}

function tooLargeFailure({ status, headers }: Response): Failure {
  const message = `The response has more than ${RESPONSE_BYTES_MAX} bytes, so it was not read.`
  return {
    ...NO_RESPONSE,
    status,
    requestId: headers.get('request-id'),
    isRetryable: false,
    createError: (context) => new ConnectionError(message, context),
  }
}

function lostFailure(cause: unknown): Failure {
  const createError = (context: ErrorContext): BursarError =>
    new ConnectionError('The connection failed before the whole response arrived.', context, { cause })
  return { ...NO_RESPONSE, isRetryable: true, createError }
}

function timeoutFailure(timeoutMs: number): Failure {
  const createError = (context: ErrorContext): BursarError =>
    new TimeoutError(`No response arrived within ${timeoutMs} ms.`, context)
  return { ...NO_RESPONSE, isRetryable: true, createError }
}

export function abortFailure(signal: AbortSignal): Failure {
  const createError = (context: ErrorContext): BursarError =>
    new AbortedError('The call was aborted.', context, { cause: signal.reason })
  return { ...NO_RESPONSE, isRetryable: false, createError }
}

const NO_RESPONSE = {
  kind: 'failure',
  status: null,
  requestId: null,
  retryAfterSeconds: null,
  mayHavePaid: true,
} as const

function readError(body: unknown): ReceivedError | null {
  const error = isObject(body) ? body['error'] : null
  if (!isObject(error)) return null
  const { type, message, code, details } = error
  if (typeof type !== 'string' || typeof message !== 'string') return null
  return { type, message, details, ...(typeof code === 'string' ? { code } : {}) }
}

/** Reads `Retry-After`, which is a number of seconds, or a date if a proxy wrote it. */
function readRetryAfter(headers: Headers, now: number): number | null {
  const value = headers.get('retry-after')
  if (value === null) return null
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now) / MS_PER_SECOND
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
