import { openSignUp } from '../../domain/sessions/open-sign-up.ts'
import { signUp } from '../../domain/sessions/sign-up.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { formatCeremony, takeCeremonyCookie } from '../ceremony.ts'
import type { ConsoleContext } from '../console-context.ts'
import { SESSION_ROUTES } from '../contract/session.ts'
import { deviceOf } from '../current-session.ts'
import { parseRegistration } from '../parse-body.ts'
import { startSession } from '../start-session.ts'

export function addSignUpRoutes(http: HttpServer, consoleContext: ConsoleContext): void {
  const { ctx } = consoleContext

  http.route({
    ...SESSION_ROUTES.openSignUp,
    handler: async (request, reply) => {
      const { name, invitation } = request.body
      const opened = await openSignUp(ctx, { name, policy: consoleContext.signUp, invitation })
      return formatCeremony(consoleContext, reply, opened)
    },
  })

  http.route({
    ...SESSION_ROUTES.signUp,
    handler: async (request, reply) => {
      const ceremony = takeCeremonyCookie(consoleContext, request, reply)
      const response = parseRegistration(request.body)
      const issued = await signUp(ctx, { ceremony, response, device: deviceOf(request) })
      const session = await startSession(consoleContext, request, reply, issued)
      return reply.code(201).send({ session, recovery_codes: issued.recoveryCodes })
    },
  })
}
