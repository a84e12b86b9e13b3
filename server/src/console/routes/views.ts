import { deleteView } from '../../domain/saved-views/delete-view.ts'
import { listViews } from '../../domain/saved-views/list-views.ts'
import { saveView } from '../../domain/saved-views/save-view.ts'
import type { SavedView } from '../../domain/saved-views/saved-view.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { invalidMember } from '../../values/invalid-request.ts'
import { checkName } from '../../values/name.ts'
import { parseViewQuery } from '../../values/view-query.ts'
import type { ConsoleContext } from '../console-context.ts'
import { VIEW_ROUTES } from '../contract/views.ts'
import { currentMembership } from '../current-membership.ts'
import { actorOf } from '../current-session.ts'

/** Adds the endpoints for the views of the payments that a workspace has saved. */
export function addViewRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...VIEW_ROUTES.list,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const views = await listViews(ctx, { workspaceId: workspace.id, mode: request.query.mode })
      return { views: views.map(formatView) }
    },
  })

  http.route({
    ...VIEW_ROUTES.save,
    handler: async (request, reply) => {
      const { workspace } = currentMembership(request)
      const { mode } = request.body
      const name = checkName(request.body.name)
      const query = parseViewQuery(request.body.query)
      if (query === null) throw invalidMember('query', 'must contain only filters of the payments')
      const actor = actorOf(request)
      const view = await saveView(ctx, { workspaceId: workspace.id, mode, name, query, actor })
      return reply.code(201).send({ view: formatView(view) })
    },
  })

  http.route({
    ...VIEW_ROUTES.delete,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { id } = request.params
      const actor = actorOf(request)
      await deleteView(ctx, { workspaceId: workspace.id, mode: request.query.mode, id, actor })
      return {}
    },
  })
}

function formatView({ id, name, query }: SavedView) {
  return { id, name, query }
}
