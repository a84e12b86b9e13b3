import { useQuery, useQueryClient } from '@tanstack/react-query'
import { connectionsQuery, disconnect } from '../../api/connections.ts'
import type { Connection } from '../../api/wire.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Loading } from '../../components/loading.tsx'
import { ModeBadge } from '../../components/mode-badge.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { NoRows, Row, Rows } from '../../components/rows.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { formatScopeList } from '../../format/scope-text.ts'
import { isAdmin } from '../../roles.ts'
import { useWorkspace } from './workspace-context.ts'

export function ConnectionsPage() {
  const { slug, name, role } = useWorkspace()
  const query = connectionsQuery(slug)
  const { data: connections, error, refetch } = useQuery(query)
  const client = useQueryClient()
  return (
    <>
      <PageHeading
        title="Connections"
        place={name}
        lead="Applications that somebody here let act for an agent. To disconnect one ends its access at once."
      />
      {connections === undefined &&
        (error === null ? <Loading /> : <ErrorNotice error={error} onRetry={() => void refetch()} />)}
      {connections?.length === 0 && (
        <NoRows>No application is connected. One asks by itself, when you add Bursar to it.</NoRows>
      )}
      {connections !== undefined && connections.length > 0 && (
        <Rows>
          {connections.map((connection) => (
            <ConnectionRow
              key={connection.id}
              connection={connection}
              mayDisconnect={isAdmin(role)}
              onDisconnect={async () => {
                await disconnect(slug, connection.id)
                await client.invalidateQueries({ queryKey: query.queryKey })
              }}
            />
          ))}
        </Rows>
      )}
    </>
  )
}

interface ConnectionRowProps {
  readonly connection: Connection
  readonly mayDisconnect: boolean
  readonly onDisconnect: () => Promise<void>
}

function ConnectionRow({ connection, mayDisconnect, onDisconnect }: ConnectionRowProps) {
  const { client, mode, agent_id, scopes, user_name, created_at, expires_at } = connection
  const hosts = client.redirect_hosts.join(', ')
  const actions = mayDisconnect && (
    <ConfirmDialog
      label="Disconnect"
      labelDetail={hosts}
      title={`Disconnect ${hosts}?`}
      confirmLabel="Disconnect"
      onConfirm={onDisconnect}
    >
      It can’t act as the agent “{agent_id}” any more, from this moment on. To connect again, it has to ask again.
    </ConfirmDialog>
  )
  return (
    <Row actions={actions}>
      <div className="mb-1.5 flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="font-bold break-all">{hosts}</h2>
        <ModeBadge mode={mode} />
      </div>
      <p>
        Acts as <strong className="break-all">{agent_id}</strong>: {formatScopeList(scopes)}
      </p>
      <p className="text-sm text-muted">
        Calls itself “<bdi>{client.name}</bdi>”. Approved by {user_name}, <TimeText at={created_at} />. Ends{' '}
        <TimeText at={expires_at} /> unless it is used.
      </p>
    </Row>
  )
}
