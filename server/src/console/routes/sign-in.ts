import { openSignIn } from '../../domain/sessions/open-sign-in.ts'
import { signIn } from '../../domain/sessions/sign-in.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { formatCeremony, takeCeremony } from '../ceremony.ts'
import { createCeremonyLimit, type Door } from '../door.ts'
import { parseAuthentication } from '../parse-body.ts'
import { AuthenticationBody, EmptyBody } from '../schemas.ts'
import { startSession } from '../start-session.ts'
import { deviceOf } from '../visitor.ts'

export function addSignInRoutes(http: HttpServer, door: Door): void {
  const onRequest = createCeremonyLimit(door)

  http.post('/console/sign-in/options', { onRequest, schema: { body: EmptyBody } }, async (_request, reply) => {
    return formatCeremony(door, reply, await openSignIn(door.ctx))
  })

  http.post('/console/sign-in', { schema: { body: AuthenticationBody } }, async (request, reply) => {
    const ceremony = takeCeremony(door, request, reply)
    const response = parseAuthentication(request.body)
    const issued = await signIn(door.ctx, { ceremony, response, device: deviceOf(request) })
    return { session: await startSession(door, request, reply, issued) }
  })
}
