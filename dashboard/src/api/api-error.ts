/** An error that the server returned, or one of ours if no error envelope came back. */
export class ApiError extends Error {
  /** The HTTP status; 0 if there was no response. */
  readonly status: number
  readonly type: string
  readonly code: string | undefined
  readonly details: unknown

  constructor(
    status: number,
    problem: { type: string; message: string; code?: string | undefined; details?: unknown },
  ) {
    super(problem.message)
    this.name = 'ApiError'
    this.status = status
    this.type = problem.type
    this.code = problem.code
    this.details = problem.details
  }
}

/** Parses an error response: the envelope `{ error: { type, message, code?, details? } }`, or anything that a proxy may send. */
export function parseApiError(status: number, body: unknown): ApiError {
  const error = isRecord(body) ? body['error'] : undefined
  if (!isRecord(error) || typeof error['type'] !== 'string' || typeof error['message'] !== 'string') {
    return new ApiError(status, { type: 'internal', message: `Bursar responded with an error (${status}). Try again.` })
  }
  const { type, message, code, details } = error
  return new ApiError(status, { type, message, code: typeof code === 'string' ? code : undefined, details })
}

/** There was no response: no connection, or a timeout. */
export function unreachable(): ApiError {
  return new ApiError(0, {
    type: 'unreachable',
    message: "Bursar can't be reached. Check your connection, then try again.",
  })
}

/** Whether the session has ended. A rejected passkey or recovery code is a 401 as well, but has a code. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401 && error.code === undefined
}

/** Whether a retry may succeed. */
export function isTransient(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500)
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof ApiError && error.code === code
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
