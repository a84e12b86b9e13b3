import { useQuery } from '@tanstack/react-query'
import { agentsQuery } from '../../api/queries.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { useNewForm } from '../../components/use-new-form.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { AgentList } from './agent-list.tsx'
import { NewAgentForm } from './new-agent-form.tsx'

export function AgentsPage() {
  const { slug, mode, name, role } = useWorkspace()
  const { data: agents, error, refetch } = useQuery(agentsQuery(slug, mode))
  const [isAdding, setAdding] = useNewForm()
  const add = may(role, 'manageAgents') && !isAdding && (
    <Button variant="primary" onClick={() => setAdding(true)}>
      New agent
    </Button>
  )
  return (
    <>
      <PageHeading
        title="Agents"
        breadcrumb={name}
        lead="An agent is the name under which your software pays. Grants set how much each agent can spend."
        actions={agents !== undefined && agents.length > 0 && add}
      />
      {isAdding && <NewAgentForm onCancel={() => setAdding(false)} />}
      {agents === undefined && <QueryState error={error} onRetry={refetch} />}
      {agents?.length === 0 && !isAdding && (
        <EmptyState title="No agents yet" action={add}>
          Create an agent for your software. The agent can pay once a wallet’s owner has signed a grant for it.
        </EmptyState>
      )}
      {agents !== undefined && agents.length > 0 && <AgentList agents={agents} />}
    </>
  )
}
