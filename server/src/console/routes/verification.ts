import { openVerification } from '../../domain/sessions/open-verification.ts'
import { verifySession } from '../../domain/sessions/verify-session.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { formatCeremony, takeCeremony } from '../ceremony.ts'
import { createCeremonyLimit, type Door } from '../door.ts'
import { parseAuthentication } from '../parse-body.ts'
import { AuthenticationBody, EmptyBody } from '../schemas.ts'
import { handSession } from '../start-session.ts'
import { getVisitor } from '../visitor.ts'

/** Proving by a passkey that it is still the same person, before what the session alone does not allow. */
export function addVerificationRoutes(http: HttpServer, door: Door): void {
  const onRequest = createCeremonyLimit(door)

  http.post('/console/verification/options', { onRequest, schema: { body: EmptyBody } }, async (request, reply) => {
    const opened = await openVerification(door.ctx, { session: getVisitor(request) })
    return formatCeremony(door, reply, opened)
  })

  http.post('/console/verification', { schema: { body: AuthenticationBody } }, async (request, reply) => {
    const session = getVisitor(request)
    const ceremony = takeCeremony(door, request, reply)
    const issued = await verifySession(door.ctx, { session, ceremony, response: parseAuthentication(request.body) })
    return { session: await handSession(door, reply, issued) }
  })
}
