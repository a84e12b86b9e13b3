import type { FastifyRequest } from 'fastify'
import type { Context } from '../domain/context.ts'
import { findSession } from '../domain/sessions/find-session.ts'
import type { Session } from '../domain/sessions/session.ts'
import { createCookies } from './cookies.ts'

export type ReadSession = (request: FastifyRequest) => Promise<Session | null>

/** Reads whose session a request's cookie stands for; null without a cookie, or when the session has ended. */
export function createSessionReader(ctx: Context, options: { production: boolean }): ReadSession {
  const cookies = createCookies(options)
  return async function readSession(request) {
    const secret = cookies.readSession(request)
    return secret === null ? null : await findSession(ctx, { secret, isAttended: isAttended(request) })
  }
}

/**
 * A page that stands open reads by itself what changes, and says so: that is nobody's presence, and keeps no session from
 * ending (D47). A stream of events is listened to without saying anything.
 */
function isAttended({ headers }: FastifyRequest): boolean {
  return headers['service-unattended'] === undefined && headers.accept !== 'text/event-stream'
}
