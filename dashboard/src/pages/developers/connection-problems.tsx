import { useQuery } from '@tanstack/react-query'
import type { ConnectionError } from '@bursar/server/src/console/contract/connection-errors.ts'
import { connectionErrorsQuery } from '../../api/queries.ts'
import { List, ListItem } from '../../components/list.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { formatClientHosts } from '../../format/client-hosts.ts'
import { explainConnectionError } from '../../format/connection-error-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The last errors of applications, in words. Shows nothing if there are none. */
export function ConnectionProblems() {
  const { slug, mode } = useWorkspace()
  const { data: errors, error, refetch } = useQuery(connectionErrorsQuery(slug, mode))
  if (errors === undefined && error === null) return null
  if (errors?.length === 0) return null
  return (
    <Section
      title="Connections that failed"
      lead="When the person who approved an application connects it again, it disappears from this list."
    >
      {errors === undefined ? (
        <QueryState error={error} onRetry={refetch} lines={2} />
      ) : (
        <List>
          {errors.map((one) => (
            <ProblemRow key={`${one.connection_id} ${one.code}`} error={one} />
          ))}
        </List>
      )}
    </Section>
  )
}

function ProblemRow({ error }: { readonly error: ConnectionError }) {
  const { to } = useWorkspace()
  const { client, agent_id, user_name, code, happened_at } = error
  const { what, next } = explainConnectionError(code)
  return (
    <ListItem>
      <h3 className="mb-0.5 font-bold break-all">
        {formatClientHosts(client)}, <TimeText at={happened_at} isRelative />
      </h3>
      <p>{what}</p>
      <p>{next}</p>
      <p className="text-sm text-muted">
        Calls itself “<bdi>{client.name}</bdi>”. Approved by {user_name}, for{' '}
        <TextLink to={to('agents', agent_id)}>{agent_id}</TextLink>.
      </p>
    </ListItem>
  )
}
