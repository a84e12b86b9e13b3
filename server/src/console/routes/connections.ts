import type { ConnectionSummary } from '../../domain/connections/connection.ts'
import { listConnections } from '../../domain/connections/queries.ts'
import { revokeConnection } from '../../domain/connections/revoke-connection.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { membershipOf, type Door } from '../door.ts'
import { SlugIdParams, SlugParams } from '../schemas.ts'
import { OptionalModeQuery } from '../schemas-workspace.ts'

export function addConnectionRoutes(http: HttpServer, door: Door): void {
  http.get(
    '/console/workspaces/:slug/connections',
    { schema: { params: SlugParams, querystring: OptionalModeQuery } },
    async (request) => {
      const { account } = await membershipOf(door, request, 'viewer')
      const { mode = null } = request.query
      const connections = await listConnections(door.ctx, { accountId: account.id, mode })
      return { connections: connections.map(formatConnection) }
    },
  )

  http.delete('/console/workspaces/:slug/connections/:id', { schema: { params: SlugIdParams } }, async (request) => {
    const { account, userId } = await membershipOf(door, request, 'admin')
    const { id } = request.params
    await revokeConnection(door.ctx, { accountId: account.id, id, actor: { kind: 'user', id: userId } })
    return {}
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
