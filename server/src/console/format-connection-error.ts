import { identityHostOf, redirectHostsOf } from '../domain/connections/client.ts'
import type { ConnectionError } from '../domain/connection-errors/connection-error.ts'
import type { ConnectionError as ErrorView } from './contract/connection-errors.ts'

export function formatConnectionError(error: ConnectionError): ErrorView {
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
