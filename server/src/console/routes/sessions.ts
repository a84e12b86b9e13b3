import { endSession } from '../../domain/sessions/end-session.ts'
import { getSession } from '../../domain/sessions/get-session.ts'
import { listSessions } from '../../domain/sessions/list-sessions.ts'
import { sessionIdOf } from '../../domain/sessions/session.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { problem } from '../../values/problem.ts'
import type { Door } from '../door.ts'
import { IdParams } from '../schemas.ts'
import { getVisitor } from '../visitor.ts'

/** Where the visitor is signed in; and to be it no longer there. */
export function addSessionListRoutes(http: HttpServer, door: Door): void {
  const { ctx } = door

  http.get('/console/sessions', async (request) => {
    const visitor = getVisitor(request)
    const current = sessionIdOf(visitor)
    const sessions = await listSessions(ctx, { userId: visitor.userId })
    return {
      sessions: sessions.map((session) => ({
        id: sessionIdOf(session),
        device: session.device,
        created_at: session.createdAt.toISOString(),
        last_seen_at: session.lastSeenAt.toISOString(),
        expires_at: session.expiresAt.toISOString(),
        current: sessionIdOf(session) === current,
      })),
    }
  })

  http.delete('/console/sessions/:id', { schema: { params: IdParams } }, async (request, reply) => {
    const visitor = getVisitor(request)
    const session = await getSession(ctx, { userId: visitor.userId, id: request.params.id })
    if (!(await endSession(ctx, { session }))) throw problem('session_not_found')
    if (sessionIdOf(session) === sessionIdOf(visitor)) door.cookies.clearSession(reply)
    return {}
  })
}
