import { renameUser } from '../../domain/passkeys/rename-user.ts'
import { endOtherSessions } from '../../domain/sessions/end-other-sessions.ts'
import { endSession } from '../../domain/sessions/end-session.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { SESSION_ROUTES } from '../contract/session.ts'
import { getCurrentSession } from '../current-session.ts'
import { formatSession } from '../format-session.ts'

/** Adds the endpoints that read and end the current session, and the one that renames its user. */
export function addSessionRoutes(http: HttpServer, consoleContext: ConsoleContext): void {
  const { ctx } = consoleContext

  http.route({
    ...SESSION_ROUTES.find,
    handler: async (request) => {
      const session = request.session
      return {
        session: session === null ? null : await formatSession(consoleContext, session),
        sign_up: consoleContext.signUp,
      }
    },
  })

  http.route({
    ...SESSION_ROUTES.rename,
    handler: async (request) => {
      await renameUser(ctx, { userId: getCurrentSession(request).userId, name: request.body.name })
      return {}
    },
  })

  http.route({
    ...SESSION_ROUTES.signOut,
    handler: async (request, reply) => {
      const session = request.session
      if (session !== null) await endSession(ctx, { session })
      consoleContext.cookies.clearSession(reply)
      return {}
    },
  })

  http.route({
    ...SESSION_ROUTES.signOutElsewhere,
    handler: async (request) => {
      return { ended: await endOtherSessions(ctx, { session: getCurrentSession(request) }) }
    },
  })
}
