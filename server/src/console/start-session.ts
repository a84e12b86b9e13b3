import type { FastifyReply, FastifyRequest } from 'fastify'
import { endSession } from '../domain/sessions/end-session.ts'
import type { IssuedSession } from '../domain/sessions/issue-session.ts'
import type { Door } from './door.ts'
import { formatSession } from './format-session.ts'
import { findVisitor } from './visitor.ts'

/** Hands a new session to the browser. The one that it had before ends: nobody would know of it any more. */
export async function startSession(
  door: Door,
  request: FastifyRequest,
  reply: FastifyReply,
  issued: IssuedSession,
): Promise<Awaited<ReturnType<typeof formatSession>>> {
  const before = findVisitor(request)
  if (before !== null) await endSession(door.ctx, { session: before })
  return await handSession(door, reply, issued)
}

/** Hands over the session that a verification made of the one before, which has ended with it. */
export async function handSession(door: Door, reply: FastifyReply, { session, secret }: IssuedSession) {
  const lifetimeMs = session.expiresAt.getTime() - door.ctx.clock.now().getTime()
  door.cookies.setSession(reply, secret, Math.floor(lifetimeMs / 1_000))
  return await formatSession(door, session)
}
