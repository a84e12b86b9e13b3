import { listConnections } from '../../domain/connections/queries.ts'
import { revokeConnection } from '../../domain/connections/revoke-connection.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { CONNECTION_ROUTES } from '../contract/connections.ts'
import { currentMembership } from '../current-membership.ts'
import { actorOf } from '../current-session.ts'
import { formatConnection } from '../format-connection.ts'

export function addConnectionRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...CONNECTION_ROUTES.list,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { mode = null } = request.query
      const connections = await listConnections(ctx, { workspaceId: workspace.id, mode })
      return { connections: connections.map(formatConnection) }
    },
  })

  http.route({
    ...CONNECTION_ROUTES.revoke,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { id } = request.params
      await revokeConnection(ctx, { workspaceId: workspace.id, id, actor: actorOf(request) })
      return {}
    },
  })
}
