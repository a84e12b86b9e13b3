import { openSignUp } from '../../domain/sessions/open-sign-up.ts'
import { signUp } from '../../domain/sessions/sign-up.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { formatCeremony, takeCeremony } from '../ceremony.ts'
import { createSignUpLimit, type Door } from '../door.ts'
import { parseRegistration } from '../parse-body.ts'
import { RegistrationBody, SignUpBody } from '../schemas.ts'
import { startSession } from '../start-session.ts'
import { deviceOf } from '../visitor.ts'

export function addSignUpRoutes(http: HttpServer, door: Door): void {
  const onRequest = createSignUpLimit(door)

  http.post('/console/sign-up/options', { onRequest, schema: { body: SignUpBody } }, async (request, reply) => {
    const { name, invitation } = request.body
    const opened = await openSignUp(door.ctx, { name, policy: door.signUp, invitation })
    return formatCeremony(door, reply, opened)
  })

  http.post('/console/sign-up', { schema: { body: RegistrationBody } }, async (request, reply) => {
    const ceremony = takeCeremony(door, request, reply)
    const response = parseRegistration(request.body)
    const issued = await signUp(door.ctx, { ceremony, response, device: deviceOf(request) })
    const session = await startSession(door, request, reply, issued)
    return reply.code(201).send({ session, recovery_codes: issued.recoveryCodes })
  })
}
