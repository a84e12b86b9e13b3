import { openVerification } from '../../domain/sessions/open-verification.ts'
import { verifySession } from '../../domain/sessions/verify-session.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { formatCeremony, takeCeremonyCookie } from '../ceremony.ts'
import type { ConsoleContext } from '../console-context.ts'
import { SESSION_ROUTES } from '../contract/session.ts'
import { getCurrentSession } from '../current-session.ts'
import { parseAuthentication } from '../parse-body.ts'
import { setSession } from '../start-session.ts'

/**
 * Adds the endpoints with which a person proves their presence by passkey. Some actions require this proof in addition
 * to the session cookie.
 */
export function addVerificationRoutes(http: HttpServer, consoleContext: ConsoleContext): void {
  const { ctx } = consoleContext

  http.route({
    ...SESSION_ROUTES.openVerification,
    handler: async (request, reply) => {
      const opened = await openVerification(ctx, { session: getCurrentSession(request) })
      return formatCeremony(consoleContext, reply, opened)
    },
  })

  http.route({
    ...SESSION_ROUTES.verify,
    handler: async (request, reply) => {
      const session = getCurrentSession(request)
      const ceremony = takeCeremonyCookie(consoleContext, request, reply)
      const issued = await verifySession(ctx, {
        session,
        ceremony,
        response: parseAuthentication(request.body),
      })
      return { session: await setSession(consoleContext, reply, issued) }
    },
  })
}
