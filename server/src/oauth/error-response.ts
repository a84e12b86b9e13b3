import type { FastifyReply, FastifyRequest } from 'fastify'
import { toOauthError, type BodyKind } from './to-oauth-error.ts'

/**
 * Makes the error handler of the JSON endpoints. It responds with `error` and `error_description` (RFC 6749, section
 * 5.2) to every error (D35). Only a 401 may have a challenge: on a 400, clients would not read the error.
 */
export function createJsonErrorHandler(kind: BodyKind) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error = toOauthError(thrown, kind)
    startErrorResponse(error, request, reply)
    void reply
      .header('Content-Type', 'application/json; charset=utf-8')
      .send(JSON.stringify({ error: error.error, error_description: error.message }))
  }
}

interface Fault {
  readonly status: number
  readonly message: string
  readonly cause?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly retryAfterSeconds?: number | undefined
}

/** Sets the status and headers of an error response, and logs the error if it is ours. The caller adds the body. */
export function startErrorResponse(fault: Fault, request: FastifyRequest, reply: FastifyReply): void {
  if (fault.status >= 500) request.log.error({ err: fault.cause ?? fault, request: request.id }, fault.message)
  void reply.code(fault.status).headers({ ...fault.headers, 'Cache-Control': 'no-store' })
  if (fault.retryAfterSeconds !== undefined) void reply.header('Retry-After', String(fault.retryAfterSeconds))
}
