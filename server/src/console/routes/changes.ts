import { leaveWork } from '../../http/overload-gate.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { ChangeStreams } from '../changes/change-streams.ts'
import type { ConsoleContext } from '../console-context.ts'
import { OVERVIEW_ROUTES } from '../contract/overview.ts'
import { currentMembership } from '../current-membership.ts'
import { getCurrentSession } from '../current-session.ts'

/** Adds the endpoint that tells a page that something has changed, with server-sent events. */
export function addChangesRoute(http: HttpServer, { ctx }: ConsoleContext): void {
  const streams = new ChangeStreams(ctx)
  http.addHook('preClose', () => streams.close())

  http.route({
    ...OVERVIEW_ROUTES.listenToChanges,
    // There is no HEAD route, because a HEAD response has no body and so no events.
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      // The page may have disconnected since it sent the request. Its stream would replace the stream of an open page.
      if (reply.raw.destroyed) return reply
      const { workspace } = currentMembership(request)
      const place = { workspaceId: workspace.id, mode: request.query.mode }
      const source = streams.open({ place, session: getCurrentSession(request), slug: workspace.slug })
      leaveWork(request)
      return reply
        .headers({ 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' })
        .send(source)
    },
  })
}
