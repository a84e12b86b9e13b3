import { issueRecoveryCodes } from '../../domain/passkeys/issue-recovery-codes.ts'
import { signInWithRecoveryCode } from '../../domain/sessions/sign-in-with-recovery-code.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { createCeremonyLimit, type Door } from '../door.ts'
import { EmptyBody, RecoveryBody } from '../schemas.ts'
import { startSession } from '../start-session.ts'
import { deviceOf, getVisitor } from '../visitor.ts'

/** Signing in by a recovery code, and making new codes. */
export function addRecoveryRoutes(http: HttpServer, door: Door): void {
  const onRequest = createCeremonyLimit(door)

  http.post('/console/recovery', { onRequest, schema: { body: RecoveryBody } }, async (request, reply) => {
    const issued = await signInWithRecoveryCode(door.ctx, { code: request.body.code, device: deviceOf(request) })
    return { session: await startSession(door, request, reply, issued) }
  })

  http.post('/console/recovery-codes', { schema: { body: EmptyBody } }, async (request, reply) => {
    const codes = await issueRecoveryCodes(door.ctx, { session: getVisitor(request) })
    return reply.code(201).send({ recovery_codes: codes })
  })
}
