import type { FastifyRequest } from 'fastify'
import type { Context } from '../domain/context.ts'
import { findSession } from '../domain/sessions/find-session.ts'
import type { Session } from '../domain/sessions/session.ts'
import { createCookies } from './cookies.ts'

export type ReadSession = (request: FastifyRequest) => Promise<Session | null>

/**
 * Creates a function that returns the session of a request's cookie. It returns null if there is no cookie, or if the
 * session has ended.
 */
export function createSessionReader(ctx: Context, options: { production: boolean }): ReadSession {
  const cookies = createCookies(options)
  return async function readSession(request) {
    const secret = cookies.readSession(request)
    return secret === null ? null : await findSession(ctx, { secret, isAttended: isAttended(request) })
  }
}

/**
 * Returns whether a person caused the request. An open page also makes requests without a person, to update what it
 * shows, and adds a header to them. Such requests must not keep the session alive (D47). The browser itself requests
 * the event stream, so the page cannot add the header there.
 */
function isAttended({ headers }: FastifyRequest): boolean {
  return headers['service-unattended'] === undefined && headers.accept !== 'text/event-stream'
}
