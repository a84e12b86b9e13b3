import { endSession } from '../../domain/sessions/end-session.ts'
import { getSession, listSessions } from '../../domain/sessions/queries.ts'
import { sessionIdOf } from '../../domain/sessions/session.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { problem } from '../../values/problem.ts'
import type { ConsoleContext } from '../console-context.ts'
import { SESSION_LIST_ROUTES } from '../contract/sessions.ts'
import { getCurrentSession } from '../current-session.ts'

/** Adds the endpoints that list and end the person's sessions in all browsers. */
export function addSessionListRoutes(http: HttpServer, consoleContext: ConsoleContext): void {
  const { ctx } = consoleContext

  http.route({
    ...SESSION_LIST_ROUTES.list,
    handler: async (request) => {
      const own = getCurrentSession(request)
      const current = sessionIdOf(own)
      const sessions = await listSessions(ctx, { userId: own.userId })
      return {
        sessions: sessions.map((session) => ({
          id: sessionIdOf(session),
          device: session.device,
          created_at: session.createdAt.toISOString(),
          last_seen_at: session.lastSeenAt.toISOString(),
          expires_at: session.expiresAt.toISOString(),
          current: sessionIdOf(session) === current,
        })),
      }
    },
  })

  http.route({
    ...SESSION_LIST_ROUTES.end,
    handler: async (request, reply) => {
      const own = getCurrentSession(request)
      const session = await getSession(ctx, { userId: own.userId, id: request.params.id })
      if (!(await endSession(ctx, { session }))) throw problem('session_not_found')
      if (sessionIdOf(session) === sessionIdOf(own)) consoleContext.cookies.clearSession(reply)
      return {}
    },
  })
}
