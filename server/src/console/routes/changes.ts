import type { HttpServer } from '../../http/open-http.ts'
import { ChangeStreams } from '../changes/change-streams.ts'
import { membershipOf, type Door } from '../door.ts'
import { ModeQuery, SlugParams } from '../schemas.ts'
import { getVisitor } from '../visitor.ts'

/** Tells a page that something changed, as it happens (server-sent events). */
export function addChangesRoute(http: HttpServer, door: Door): void {
  const streams = new ChangeStreams(door.ctx)
  http.addHook('preClose', () => streams.close())

  http.get(
    '/console/workspaces/:slug/changes',
    // A HEAD has no body to listen to.
    { exposeHeadRoute: false, schema: { params: SlugParams, querystring: ModeQuery } },
    async (request, reply) => {
      const { account } = await membershipOf(door, request, 'viewer')
      const place = { accountId: account.id, mode: request.query.mode }
      const source = streams.open({ place, session: getVisitor(request), slug: account.slug })
      return reply
        .headers({ 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' })
        .send(source)
    },
  )
}
