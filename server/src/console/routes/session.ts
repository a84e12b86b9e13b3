import { endOtherSessions } from '../../domain/sessions/end-other-sessions.ts'
import { endSession } from '../../domain/sessions/end-session.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { Door } from '../door.ts'
import { formatSession } from '../format-session.ts'
import { EmptyBody } from '../schemas.ts'
import { findVisitor, getVisitor } from '../visitor.ts'

/** Who is signed in; and to be it no longer. */
export function addSessionRoutes(http: HttpServer, door: Door): void {
  http.get('/console/session', async (request) => {
    const session = findVisitor(request)
    // Before anybody is signed in, the page of a sign-up says who may.
    return { session: session === null ? null : await formatSession(door, session), sign_up: door.signUp }
  })

  http.post('/console/sign-out', { schema: { body: EmptyBody } }, async (request, reply) => {
    const session = findVisitor(request)
    if (session !== null) await endSession(door.ctx, { session })
    door.cookies.clearSession(reply)
    return {}
  })

  http.post('/console/sign-out-elsewhere', { schema: { body: EmptyBody } }, async (request) => {
    return { ended: await endOtherSessions(door.ctx, { session: getVisitor(request) }) }
  })
}
