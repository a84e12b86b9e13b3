import type { FastifyRequest } from 'fastify'
import { toDevice, type Session } from '../domain/sessions/session.ts'
import type { ProvenActor } from '../domain/require-recent-proof.ts'
import { Problem } from '../values/problem.ts'

const sessions = new WeakMap<FastifyRequest, Session>()

export function setVisitor(request: FastifyRequest, session: Session): void {
  sessions.set(request, session)
}

/** The session of a request that was admitted; null for a visitor who is not signed in. */
export function findVisitor(request: FastifyRequest): Session | null {
  return sessions.get(request) ?? null
}

/** The session of a request that was admitted, or 401. */
export function getVisitor(request: FastifyRequest): Session {
  const session = findVisitor(request)
  if (session === null) throw new Problem('unauthenticated', 'You are not signed in, or your session has ended.')
  return session
}

/** The visitor of a request that was admitted, as the one who does something, with the time of their last proof; or 401. */
export function actorOf(request: FastifyRequest): Extract<ProvenActor, { kind: 'user' }> {
  const { userId, verifiedAt } = getVisitor(request)
  return { kind: 'user', id: userId, verifiedAt }
}

/** What the visitor's browser calls itself, for the list of sessions and the audit log. */
export function deviceOf(request: FastifyRequest): string {
  return toDevice(request.headers['user-agent'] ?? 'unknown')
}
