import { listConnectionErrors } from '../../domain/connection-errors/list-connection-errors.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { CONNECTION_ERROR_ROUTES, type ConnectionError as ErrorView } from '../contract/connection-errors.ts'
import { currentMembership } from '../current-membership.ts'
import { identityHostOf, redirectHostsOf } from '../../domain/connections/client.ts'
import type { ConnectionError } from '../../domain/connection-errors/connection-error.ts'

/** Adds the endpoint that lists why connections failed (D73a). */
export function addConnectionErrorRoute(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...CONNECTION_ERROR_ROUTES.list,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const errors = await listConnectionErrors(ctx, { workspaceId: workspace.id, mode: request.query.mode })
      return { errors: errors.map(formatConnectionError) }
    },
  })
}

function formatConnectionError(error: ConnectionError): ErrorView {
  const { connectionId, client, agentId, userName, code, happenedAt } = error
  return {
    connection_id: connectionId,
    client: { name: client.name, document_host: identityHostOf(client), redirect_hosts: redirectHostsOf(client) },
    agent_id: agentId,
    user_name: userName,
    code,
    happened_at: happenedAt.toISOString(),
  }
}
