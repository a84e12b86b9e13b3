import { issueRecoveryCodes } from '../../domain/passkeys/issue-recovery-codes.ts'
import { signInWithRecoveryCode } from '../../domain/sessions/sign-in-with-recovery-code.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { SESSION_ROUTES } from '../contract/session.ts'
import { getCurrentSession, deviceOf } from '../current-session.ts'
import { startSession } from '../start-session.ts'

/** Adds the endpoints for signing in with a recovery code, and for generating new codes. */
export function addRecoveryRoutes(http: HttpServer, consoleContext: ConsoleContext): void {
  const { ctx } = consoleContext

  http.route({
    ...SESSION_ROUTES.signInWithRecoveryCode,
    handler: async (request, reply) => {
      const issued = await signInWithRecoveryCode(ctx, { code: request.body.code, device: deviceOf(request) })
      return { session: await startSession(consoleContext, request, reply, issued) }
    },
  })

  http.route({
    ...SESSION_ROUTES.issueRecoveryCodes,
    handler: async (request, reply) => {
      const codes = await issueRecoveryCodes(ctx, { session: getCurrentSession(request) })
      return reply.code(201).send({ recovery_codes: codes })
    },
  })
}
