import { useQuery } from '@tanstack/react-query'
import { may } from '@bursar/server/src/values/role.ts'
import { stopsQuery } from '../../api/queries.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { Section } from '../../components/section.tsx'
import { StopButton } from './stop-button.tsx'
import { StopNotice } from './stop-notice.tsx'
import { useWorkspace } from './use-workspace.ts'

/** Stops all agents, and lists the stops in force. */
export function StopPage() {
  const workspace = useWorkspace()
  const { slug, mode, role } = workspace
  const { data: stops, error, refetch } = useQuery(stopsQuery(slug, mode))
  return (
    <>
      <PageHeading
        title="Stop all agents"
        lead="A stop suspends every active grant at once. From then on, no agent can pay. The grants stay as they are, and resuming brings them back."
        actions={
          may(role, 'manageGrants') && (
            <StopButton slug={slug} mode={mode} label="Stop all agents" title={`Stop all agents in ${mode} mode?`} />
          )
        }
      />
      <Section title="Stops in force">
        {stops === undefined && <QueryState error={error} onRetry={refetch} />}
        {stops?.length === 0 && (
          <EmptyState title="Nothing is stopped">
            Grants that were suspended one by one are on the page Grants.
          </EmptyState>
        )}
        {stops?.map((stop) => (
          <StopNotice key={stop.id} workspace={workspace} stop={stop} />
        ))}
      </Section>
    </>
  )
}
