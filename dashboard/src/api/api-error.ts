/** If a limit asks for a longer wait, the page shows the error instead. */
const WAIT_SECONDS_MAX = 30

/**
 * An error that the server returned, or that the dashboard created because the response contained no error envelope.
 */
export class ApiError extends Error {
  /** The HTTP status; 0 if there was no response. */
  readonly status: number
  readonly type: string
  readonly code: string | undefined
  readonly details: unknown
  /** When the server accepts the request again, if it says so. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    status: number,
    problem: {
      type: string
      message: string
      code?: string | undefined
      details?: unknown
      retryAfterSeconds?: number | undefined
    },
  ) {
    super(problem.message)
    this.name = 'ApiError'
    this.status = status
    this.type = problem.type
    this.code = problem.code
    this.details = problem.details
    this.retryAfterSeconds = problem.retryAfterSeconds
  }
}

/**
 * Parses an error response, whose body is the envelope `{ error: { type, message, code?, details? } }`. Any other body,
 * such as the error page of a proxy, becomes an error of the type `internal`. `retryAfter` is the header `Retry-After`.
 */
export function parseApiError(status: number, body: unknown, retryAfter: string | null = null): ApiError {
  const error = isRecord(body) ? body['error'] : undefined
  if (!isRecord(error) || typeof error['type'] !== 'string' || typeof error['message'] !== 'string') {
    return new ApiError(status, {
      type: 'internal',
      message: `Bursar responded with HTTP status ${status}. Try again.`,
    })
  }
  const { type, message, code, details } = error
  return new ApiError(status, {
    ...{ type, message, code: typeof code === 'string' ? code : undefined, details },
    retryAfterSeconds: retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined,
  })
}

/** Creates the error for a request without a response: there was no connection, or the request timed out. */
export function unreachable(): ApiError {
  return new ApiError(0, {
    type: 'unreachable',
    message: "Bursar can't be reached. Check your connection, then try again.",
  })
}

/**
 * Whether the error says that the session has ended. The server also rejects a passkey or recovery code with a 401, but
 * that 401 has a code.
 */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401 && error.code === undefined
}

/** Whether a retry may succeed, because there was no response or the server failed. */
export function isTransient(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500)
}

/** How long to wait if the user has sent too many requests. Null for other errors, and if the wait is long. */
export function waitOf(error: unknown): number | null {
  if (!(error instanceof ApiError) || error.status !== 429) return null
  const { retryAfterSeconds } = error
  return retryAfterSeconds === undefined || retryAfterSeconds > WAIT_SECONDS_MAX ? null : retryAfterSeconds * 1_000
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof ApiError && error.code === code
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
