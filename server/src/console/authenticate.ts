import type { FastifyReply, FastifyRequest } from 'fastify'
import { checkSameOrigin } from '../http/same-origin.ts'
import { setCurrentSession } from './current-session.ts'
import type { ReadSession } from './read-session.ts'

/** Methods that change nothing (RFC 9110, section 9.2.1). */
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD']

const RESPONSE_HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/** The first hook: no cache stores a response of the dashboard's endpoints, and no other site can load one. */
export async function setResponseHeaders(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  void reply.headers(RESPONSE_HEADERS)
}

/**
 * The hook that finds out who is calling, from the session cookie alone. A request that may change something must come from
 * our own pages (D47). This is checked first, so that a request from another site costs the person nothing.
 */
export function createAuthentication({ authUrl, readSession }: { authUrl: string; readSession: ReadSession }) {
  return async function authenticate(request: FastifyRequest): Promise<void> {
    if (!SAFE_METHODS.includes(request.method)) checkSameOrigin(request, authUrl)
    const session = await readSession(request)
    if (session !== null) setCurrentSession(request, session)
  }
}
