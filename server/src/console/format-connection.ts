import type { AuthorizationRequest } from '../domain/connections/authorization-request.ts'
import { identityHostOf } from '../domain/connections/client.ts'
import type { ConnectionSummary } from '../domain/connections/connection.ts'
import type { AuthorizationRequest as RequestView, Connection } from './contract/connections.ts'

export function formatConnection(connection: ConnectionSummary): Connection {
  const { client } = connection
  return {
    id: connection.id,
    client: { name: client.name, document_host: identityHostOf(client), redirect_hosts: [...client.redirectHosts] },
    mode: connection.mode,
    agent_id: connection.agentId,
    scopes: [...connection.scopes],
    user_name: connection.userName,
    created_at: connection.createdAt.toISOString(),
    expires_at: connection.expiresAt.toISOString(),
    last_used_at: connection.lastUsedAt?.toISOString() ?? null,
  }
}

export function formatAuthorizationRequest(asked: AuthorizationRequest): RequestView {
  const redirect = new URL(asked.redirectUri)
  return {
    client: {
      name: asked.client.name,
      document_host: identityHostOf(asked.client),
      redirect_host: redirect.host,
      redirect_uri_kind: redirect.protocol === 'https:' ? 'https' : 'loopback',
      registered_at: asked.client.createdAt.toISOString(),
    },
    scopes: [...asked.scopes],
    agent_id: asked.agentId,
    expires_at: asked.expiresAt.toISOString(),
  }
}
