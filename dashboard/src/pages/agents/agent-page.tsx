import { useQuery } from '@tanstack/react-query'
import { useParams } from 'react-router'
import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import { agentQuery, grantsQuery } from '../../api/queries.ts'
import { request } from '../../api/request.ts'
import { ButtonLink } from '../../components/button-link.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Disclosure } from '../../components/disclosure.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { may } from '@bursar/server/src/values/role.ts'
import { GrantTable } from '../grants/grant-table.tsx'
import { LatestPayments } from '../payments/latest-payments.tsx'
import { ItemState } from '../workspace/item-state.tsx'
import { StopButton } from '../workspace/stop-button.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { AgentBadge } from './agent-badge.tsx'
import { AgentConnections } from './agent-connections.tsx'
import { AgentLabel } from './agent-label.tsx'
import { AgentDeletion } from './agent-deletion.tsx'
import { AgentSpending } from './agent-spending.tsx'
import { LimitCard } from './limit-card.tsx'

export function AgentPage() {
  const { slug, mode, to } = useWorkspace()
  const { id = '' } = useParams()
  const { data: agent, error, refetch } = useQuery(agentQuery(slug, mode, id))
  const breadcrumb = <TextLink to={to('agents')}>Agents</TextLink>
  if (agent !== undefined) return <AgentDetail key={id} agent={agent} />
  return (
    <>
      <PageHeading title={id} breadcrumb={breadcrumb} />
      <ItemState
        noun="agent"
        error={error}
        onRetry={refetch}
        find={(other) =>
          request('GET /console/workspaces/:slug/agents/:id', { params: { slug, id }, query: { mode: other } })
        }
      />
    </>
  )
}

function AgentDetail({ agent }: { readonly agent: Agent }) {
  const { slug, mode, role, to } = useWorkspace()
  const { data: grants, error, refetch } = useQuery(grantsQuery(slug, mode, { agent: agent.id }))
  const newGrant = `${to('grants', 'new')}?${new URLSearchParams({ agent: agent.id })}`
  return (
    <>
      <PageHeading
        title={agent.id}
        breadcrumb={<TextLink to={to('agents')}>Agents</TextLink>}
        lead={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <AgentBadge state={agent.state} />
            {agent.label !== null && <bdi className="font-semibold text-ink">{agent.label}</bdi>}
            <span>
              Created <TimeText at={agent.created_at} />
            </span>
          </span>
        }
        actions={
          <>
            {may(role, 'manageAgents') && <AgentLabel agent={agent} />}
            {may(role, 'manageGrants') && (
              <>
                <ButtonLink to={newGrant}>New grant</ButtonLink>
                <StopButton
                  slug={slug}
                  mode={mode}
                  scope={{ agent: agent.id }}
                  label="Stop agent"
                  title={`Stop the agent “${agent.id}”?`}
                />
              </>
            )}
          </>
        }
      >
        <bdi className="wrap-anywhere">{agent.id}</bdi>
      </PageHeading>
      <Section title="Limits">
        {grants === undefined ? (
          <QueryState error={error} onRetry={refetch} />
        ) : (
          <Limits grants={grants} newGrant={may(role, 'manageGrants') ? newGrant : null} />
        )}
      </Section>
      {agent.state !== 'no_grant' && <AgentSpending agentId={agent.id} />}
      <LatestPayments filter={{ agent: agent.id }} />
      <AgentConnections agentId={agent.id} />
      {may(role, 'manageAgents') && <AgentDeletion agentId={agent.id} />}
    </>
  )
}

interface LimitsProps {
  readonly grants: readonly Grant[]
  /** The page that creates a grant for the agent. Null if the user may not create grants. */
  readonly newGrant: string | null
}

function Limits({ grants, newGrant }: LimitsProps) {
  const open = grants.filter(({ status }) => status !== 'revoked')
  const ended = grants.filter(({ status }) => status === 'revoked')
  return (
    <>
      {open.length === 0 && (
        <EmptyState
          title={ended.length === 0 ? 'This agent can’t pay yet' : 'This agent can’t pay any more'}
          action={
            newGrant !== null && (
              <ButtonLink variant="primary" to={newGrant}>
                New grant
              </ButtonLink>
            )
          }
        >
          A grant sets how much the agent can spend, from which wallet and to which recipients. The wallet’s owner signs
          it.
        </EmptyState>
      )}
      {open.length > 0 && (
        <ul className="grid gap-4 xl:grid-cols-2">
          {open.map((grant) => (
            <LimitCard key={grant.id} grant={grant} />
          ))}
        </ul>
      )}
      {ended.length > 0 && (
        <Disclosure summary={`Ended grants (${ended.length})`}>
          <GrantTable caption="Ended grants" grants={ended} hiddenColumn="agent" />
        </Disclosure>
      )}
    </>
  )
}
