import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../domain/context.ts'
import { enforceRateLimit } from '../domain/enforce-rate-limit.ts'
import { checkSameOrigin } from '../http/same-origin.ts'
import { clientAddress } from '../http/client-address.ts'
import type { ReadSession } from './read-session.ts'
import { setVisitor } from './visitor.ts'

/** They change nothing (RFC 9110, section 9.2.1), here neither. */
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD']

const ANSWER_HEADERS = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/** The first hook: whatever the dashboard's endpoints answer is kept by no cache, and is nobody else's to load. */
export async function setAnswerHeaders(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  void reply.headers(ANSWER_HEADERS)
}

/**
 * The hook before every endpoint: what changes something comes from our own pages (D47), before it costs its visitor
 * anything; then the session, of the cookie alone; then the rate (D33), before the body is read.
 */
export function createAdmission(ctx: Context, { authUrl, readSession }: { authUrl: string; readSession: ReadSession }) {
  return async function admit(request: FastifyRequest): Promise<void> {
    if (!SAFE_METHODS.includes(request.method)) checkSameOrigin(request, authUrl)
    const session = await readSession(request)
    const subject = session === null ? clientAddress(request) : session.secretHash.toString('hex')
    await enforceRateLimit(ctx, { subject, bucket: 'dashboard' })
    if (session !== null) setVisitor(request, session)
  }
}
