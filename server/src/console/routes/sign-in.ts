import { openSignIn } from '../../domain/sessions/open-sign-in.ts'
import { signIn } from '../../domain/sessions/sign-in.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { formatCeremony, takeCeremonyCookie } from '../ceremony.ts'
import type { ConsoleContext } from '../console-context.ts'
import { SESSION_ROUTES } from '../contract/session.ts'
import { deviceOf } from '../current-session.ts'
import { parseAuthentication } from '../parse-body.ts'
import { startSession } from '../start-session.ts'

export function addSignInRoutes(http: HttpServer, consoleContext: ConsoleContext): void {
  const { ctx } = consoleContext

  http.route({
    ...SESSION_ROUTES.openSignIn,
    handler: async (_request, reply) => {
      return formatCeremony(consoleContext, reply, await openSignIn(ctx))
    },
  })

  http.route({
    ...SESSION_ROUTES.signIn,
    handler: async (request, reply) => {
      const ceremony = takeCeremonyCookie(consoleContext, request, reply)
      const response = parseAuthentication(request.body)
      const issued = await signIn(ctx, { ceremony, response, device: deviceOf(request) })
      return { session: await startSession(consoleContext, request, reply, issued) }
    },
  })
}
