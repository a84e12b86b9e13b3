import type { FastifyReply, FastifyRequest } from 'fastify'
import { endSession } from '../domain/sessions/end-session.ts'
import type { IssuedSession } from '../domain/sessions/issue-session.ts'
import type { ConsoleContext } from './console-context.ts'
import type { Session } from './contract/session.ts'
import { formatSession } from './format-session.ts'

/** Sets the cookie of a new session. Ends the browser's previous session, whose cookie is overwritten. */
export async function startSession(
  consoleContext: ConsoleContext,
  request: FastifyRequest,
  reply: FastifyReply,
  issued: IssuedSession,
): Promise<Session> {
  const previous = request.session
  if (previous !== null) await endSession(consoleContext.ctx, { session: previous })
  return await setSession(consoleContext, reply, issued)
}

/** Sets the cookie of a session that has replaced the browser's previous session after a passkey proof. */
export async function setSession(
  consoleContext: ConsoleContext,
  reply: FastifyReply,
  { session, secret }: IssuedSession,
): Promise<Session> {
  const lifetimeMs = session.expiresAt.getTime() - consoleContext.ctx.clock.now().getTime()
  consoleContext.cookies.setSession(reply, secret, Math.floor(lifetimeMs / 1_000))
  return await formatSession(consoleContext, session)
}
