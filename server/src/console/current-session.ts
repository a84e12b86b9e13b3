import type { FastifyRequest } from 'fastify'
import { parseDeviceName, type Session } from '../domain/sessions/session.ts'
import type { ProvenActor } from '../domain/require-recent-proof.ts'
import { Problem } from '../values/problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The session of a request to the dashboard's endpoints. Null before authentication, and if nobody is signed in. */
    session: Session | null
  }
}

/** Returns the request's session. Throws 401 if nobody is signed in. Runs after authentication. */
export function getCurrentSession({ session }: FastifyRequest): Session {
  if (session === null) throw new Problem('unauthenticated', 'You are not signed in, or your session has ended.')
  return session
}

/**
 * Returns the signed-in person as the actor of a change, with the time of their last passkey proof. Throws 401 if
 * nobody is signed in.
 */
export function actorOf(request: FastifyRequest): Extract<ProvenActor, { kind: 'user' }> {
  const { userId, verifiedAt } = getCurrentSession(request)
  return { kind: 'user', id: userId, verifiedAt }
}

/** Returns the name of the browser from its `User-Agent` header, for the list of sessions and the audit log. */
export function deviceOf(request: FastifyRequest): string {
  return parseDeviceName(request.headers['user-agent'] ?? 'unknown')
}
