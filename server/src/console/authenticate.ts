import type { FastifyReply, FastifyRequest } from 'fastify'
import { sessionOf } from '../http/overload-gate.ts'
import { checkSameOrigin } from '../http/same-origin.ts'
import type { ReadSession } from './read-session.ts'

/** Methods that change nothing (RFC 9110, section 9.2.1). */
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD']

const RESPONSE_HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/**
 * The hook that runs first. Its headers tell caches not to store the responses of the dashboard's endpoints, and
 * browsers not to let other sites load them.
 */
export async function setResponseHeaders(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  void reply.headers(RESPONSE_HEADERS)
}

/**
 * Creates the hook that finds the caller's session, from the session cookie alone. A request that may change something
 * must come from our own pages (D47). The hook checks this before it reads the session. So a request that another site
 * makes in the person's browser does not count against their rate limit and does not keep their session alive.
 */
export function createAuthentication({ authUrl, readSession }: { authUrl: string; readSession: ReadSession }) {
  return async function authenticate(request: FastifyRequest): Promise<void> {
    if (!SAFE_METHODS.includes(request.method)) checkSameOrigin(request, authUrl)
    request.session = await readSession(request)
    const { overloadGate } = request.server
    if (request.session === null) overloadGate.forget(sessionOf(request))
    else overloadGate.remember(sessionOf(request), request.session.userId)
  }
}
