interface ApiErrorOptions {
  readonly code?: string
  readonly kept?: boolean
  readonly retryAfterSeconds?: number
  /** An HTML page to send instead of the JSON body. */
  readonly page?: string
}

/** An error response of the API, in the provider's wire format `{ error, code? }`. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string | undefined
  /**
   * Whether the response is stored under the idempotency key. The provider stores failures, except rejections by a
   * policy. A 401 is not stored either, because the request was never executed.
   */
  readonly kept: boolean
  readonly retryAfterSeconds: number | undefined
  readonly page: string | undefined

  constructor(status: number, message: string, options: ApiErrorOptions = {}) {
    super(message)
    const { code, kept = true, retryAfterSeconds, page } = options
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.kept = kept && status !== 401 && status !== 429 && code !== 'policy_violation'
    this.retryAfterSeconds = retryAfterSeconds
    this.page = page
  }

  body(): { error: string; code?: string } {
    return this.code === undefined ? { error: this.message } : { error: this.message, code: this.code }
  }
}

/** Thrown to close the connection without a response (for the faults `timeout` and `lost_response`). */
export class ConnectionDropped extends Error {
  constructor() {
    super('The connection is dropped on purpose.')
    this.name = 'ConnectionDropped'
  }
}

export function invalidData(message: string): ApiError {
  return new ApiError(400, message, { code: 'invalid_data' })
}

export function invalidPolicy(message: string): ApiError {
  return new ApiError(400, `Validation error: ${message}`, { code: 'invalid_policy_format' })
}

export function policyViolation(): ApiError {
  return new ApiError(400, 'RPC request denied due to policy violation', { code: 'policy_violation' })
}

export function broadcastFailure(detail: string): ApiError {
  return new ApiError(400, `Transaction creation failed. Details: ${detail}`, { code: 'transaction_broadcast_failure' })
}

/** Makes a 404. The provider's 404 has no code. */
export function notFound(what: string): ApiError {
  return new ApiError(404, `${what} not found`)
}

export function unauthorized(message: string): ApiError {
  return new ApiError(401, message, { code: 'invalid_data' })
}
