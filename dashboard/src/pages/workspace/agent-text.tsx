import { useQuery } from '@tanstack/react-query'
import { agentsQuery } from '../../api/queries.ts'
import { TruncatedText } from '../../components/truncated-text.tsx'
import { useWorkspace } from './use-workspace.ts'

/** The id of an agent in a table, and below it the agent's label, if it has one. */
export function AgentText({ id }: { readonly id: string }) {
  const label = useAgentLabel(id)
  return (
    <>
      <TruncatedText title={id}>
        <bdi>{id}</bdi>
      </TruncatedText>
      {label !== null && (
        <TruncatedText title={label} isFaint>
          <bdi className="text-sm font-normal">{label}</bdi>
        </TruncatedText>
      )}
    </>
  )
}

/** The label of an agent, to follow its id in the same line. Shows nothing if the agent has no label. */
export function AgentLabelText({ id }: { readonly id: string }) {
  const label = useAgentLabel(id)
  return label === null ? null : <bdi className="ml-2 text-sm font-normal text-muted">{label}</bdi>
}

/** Null if the agent has no label, or while the agents are loading. */
function useAgentLabel(id: string): string | null {
  const { slug, mode } = useWorkspace()
  const { data: agents } = useQuery(agentsQuery(slug, mode))
  return agents?.find((agent) => agent.id === id)?.label ?? null
}
