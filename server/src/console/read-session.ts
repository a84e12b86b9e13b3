import type { FastifyRequest } from 'fastify'
import type { Context } from '../domain/context.ts'
import { findSession } from '../domain/sessions/find-session.ts'
import type { Session } from '../domain/sessions/session.ts'
import { createCookies } from './cookies.ts'

export type ReadSession = (request: FastifyRequest) => Promise<Session | null>

/** Finds the session of a request's cookie; null without a cookie, or if the session has ended. */
export function createSessionReader(ctx: Context, options: { production: boolean }): ReadSession {
  const cookies = createCookies(options)
  return async function readSession(request) {
    const secret = cookies.readSession(request)
    return secret === null ? null : await findSession(ctx, { secret, isAttended: isAttended(request) })
  }
}

/**
 * Whether a person is using the page. An open page reads changes by itself and marks those requests; they must not keep the
 * session alive (D47). The request for an event stream cannot be marked, because the browser sends it.
 */
function isAttended({ headers }: FastifyRequest): boolean {
  return headers['service-unattended'] === undefined && headers.accept !== 'text/event-stream'
}
