import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Connection } from '@bursar/server/src/console/contract/connections.ts'
import { connectionsQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { List, ListItem } from '../../components/list.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { formatClientHosts } from '../../format/client-hosts.ts'
import { formatScopeList } from '../../format/scope-texts.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { AddToAgent } from './add-to-agent.tsx'
import { ConnectionProblems } from './connection-problems.tsx'

export function ConnectionsPage() {
  const { slug, name, mode } = useWorkspace()
  const { data: connections, error, refetch } = useQuery(connectionsQuery(slug, mode))
  return (
    <>
      <PageHeading
        title="Connections"
        breadcrumb={name}
        lead="Applications that are approved to act as an agent. Disconnecting an application ends its access immediately."
      />
      {connections === undefined && <QueryState error={error} onRetry={refetch} />}
      {connections?.length === 0 && (
        <EmptyState title={`No applications are connected in ${mode} mode`}>
          When you add Bursar to an application, Bursar asks you to approve the application and to choose the agent that
          it acts as. The application needs no API key.
        </EmptyState>
      )}
      {connections !== undefined && connections.length > 0 && (
        <List>
          {connections.map((connection) => (
            <ConnectionRow key={connection.id} connection={connection} />
          ))}
        </List>
      )}
      {/* The sections below need other data, but are shown together with the rest so that the page does not jump. */}
      {(connections !== undefined || error !== null) && (
        <>
          <ConnectionProblems />
          <AddToAgent />
        </>
      )}
    </>
  )
}

function ConnectionRow({ connection }: { readonly connection: Connection }) {
  const { slug, role, mode, to } = useWorkspace()
  const queries = useQueryClient()
  const { client, agent_id, scopes, user_name, created_at, expires_at, last_used_at } = connection
  const hosts = formatClientHosts(client)
  const actions = may(role, 'manageConnections') && (
    <ConfirmDialog
      label="Disconnect"
      labelDetail={hosts}
      title={`Disconnect ${hosts}?`}
      confirmLabel="Disconnect"
      onConfirm={async () => {
        const params = { slug, id: connection.id }
        await request('DELETE /console/workspaces/:slug/connections/:id', { params })
        await queries.invalidateQueries({ queryKey: connectionsQuery(slug, mode).queryKey })
      }}
    >
      The application immediately loses access to the agent “{agent_id}”. To reconnect, it must ask for approval again.
    </ConfirmDialog>
  )
  return (
    <ListItem actions={actions}>
      <h2 className="mb-0.5 font-bold break-all">{hosts}</h2>
      <p>
        Acts as <TextLink to={to('agents', agent_id)}>{agent_id}</TextLink>: {formatScopeList(scopes)}
      </p>
      <p className="text-sm text-muted">
        Calls itself “<bdi>{client.name}</bdi>”. Approved by {user_name}, <TimeText at={created_at} />.{' '}
        {last_used_at === null ? (
          'Not used yet.'
        ) : (
          <>
            Last used <TimeText at={last_used_at} isRelative />.
          </>
        )}{' '}
        Expires on <TimeText at={expires_at} /> unless the connection is used before then.
      </p>
    </ListItem>
  )
}
