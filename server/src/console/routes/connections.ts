import type { ConnectionSummary } from '../../domain/connections/connection.ts'
import { listConnections } from '../../domain/connections/queries.ts'
import { revokeConnection } from '../../domain/connections/revoke-connection.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { CONNECTION_ROUTES } from '../contract/connections.ts'
import { currentMembership } from '../current-membership.ts'
import { actorOf } from '../current-session.ts'

export function addConnectionRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...CONNECTION_ROUTES.list,
    handler: async (request) => {
      const { account } = currentMembership(request)
      const { mode = null } = request.query
      const connections = await listConnections(ctx, { accountId: account.id, mode })
      return { connections: connections.map(formatConnection) }
    },
  })

  http.route({
    ...CONNECTION_ROUTES.revoke,
    handler: async (request) => {
      const { account } = currentMembership(request)
      const { id } = request.params
      await revokeConnection(ctx, { accountId: account.id, id, actor: actorOf(request) })
      return {}
    },
  })
}

function formatConnection(connection: ConnectionSummary) {
  return {
    id: connection.id,
    client: { name: connection.client.name, redirect_hosts: connection.client.redirectHosts },
    mode: connection.mode,
    agent_id: connection.agentId,
    scopes: connection.scopes,
    user_name: connection.userName,
    created_at: connection.createdAt.toISOString(),
    expires_at: connection.expiresAt.toISOString(),
    last_used_at: connection.lastUsedAt?.toISOString() ?? null,
  }
}
