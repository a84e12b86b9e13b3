import type { FastifyReply, FastifyRequest } from 'fastify'
import { logFailure } from '../http/open-http.ts'
import { setRetryAfter } from '../http/set-retry-after.ts'
import { toOauthError, type BodyKind } from './to-oauth-error.ts'

/**
 * Creates the error handler of the JSON endpoints. It responds to every error with `error` and `error_description`
 * (D35; RFC 6749, section 5.2). Only a 401 may have a challenge: if a 400 had one, clients would not read its error.
 */
export function createJsonErrorHandler(kind: BodyKind) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error = toOauthError(thrown, kind)
    request.errorCode = error.error
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
  /** Whether the error was logged where it happened. */
  readonly isLogged?: boolean
}

/**
 * Sets the status and headers of an error response, and logs the error if its status is 500 or higher and it is not
 * logged yet. The caller adds the body.
 */
export function startErrorResponse(fault: Fault, request: FastifyRequest, reply: FastifyReply): void {
  if (fault.status >= 500 && fault.isLogged !== true) logFailure(request, fault)
  void reply.code(fault.status).headers({ ...fault.headers, 'Cache-Control': 'no-store' })
  setRetryAfter(reply, fault.retryAfterSeconds)
}
