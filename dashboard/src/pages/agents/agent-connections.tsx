import { useQuery } from '@tanstack/react-query'
import { connectionsQuery } from '../../api/queries.ts'
import { EmptyList, List, ListItem } from '../../components/list.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { formatClientHosts } from '../../format/client-hosts.ts'
import { formatScopeList } from '../../format/scope-texts.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The applications that act as this agent. */
export function AgentConnections({ agentId }: { readonly agentId: string }) {
  const { slug, mode, to } = useWorkspace()
  const { data, error, refetch } = useQuery(connectionsQuery(slug, mode))
  const connections = data?.filter((connection) => connection.agent_id === agentId)
  return (
    <Section
      title="Connections"
      lead="Applications that act as this agent."
      actions={
        connections !== undefined &&
        connections.length > 0 && <TextLink to={to('developers', 'connections')}>Manage connections</TextLink>
      }
    >
      {connections === undefined && <QueryState error={error} onRetry={refetch} lines={2} />}
      {connections?.length === 0 && <EmptyList>No applications are connected as this agent.</EmptyList>}
      {connections !== undefined && connections.length > 0 && (
        <List>
          {connections.map(({ id, client, scopes, user_name, last_used_at }) => (
            <ListItem key={id}>
              <p className="font-semibold break-all">{formatClientHosts(client)}</p>
              <p className="text-sm text-muted">
                Can {formatScopeList(scopes)}. Approved by {user_name}.{' '}
                {last_used_at === null ? (
                  'Not used yet.'
                ) : (
                  <>
                    Last used <TimeText at={last_used_at} isRelative />.
                  </>
                )}
              </p>
            </ListItem>
          ))}
        </List>
      )}
    </Section>
  )
}
